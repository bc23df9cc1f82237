import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Locator, Page } from 'playwright-core'
import { brokenRules } from '../broken-rules.ts'
import { type ModelServer, startModelServer } from '../fakes/model-server.ts'
import { findBrowser } from '../find-browser.ts'
import { launchChromium } from '../launch-chromium.ts'
import { type Desk, openDesk } from '../open-desk.ts'
import { type Service, startService } from '../start.ts'
import { until } from '../until.ts'
import { memberOf, type Worker } from '../workspace.ts'
import { pageOf } from '../workspace-page.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'

/** Clicks a button as the second click of a double-click does, or the first, for `evaluate`. */
const clickOf = (detail: 1 | 2) =>
  new Function(
    'button',
    `button.dispatchEvent(new MouseEvent('click', { bubbles: true, detail: ${detail} }))`,
  ) as (button: unknown) => void

describe('a day in the workspace', { skip }, () => {
  let service: Service
  let browser: Browser
  let models: ModelServer
  let desk: Desk
  let owner: Worker
  let page: Page

  before(async () => {
    models = await startModelServer()
    service = await startService(models.settings)
    browser = await launchChromium()
    desk = await openDesk(service, ['Sam Lee'])
    owner = await memberOf(service, desk.client.accountId, 'owner')
    for (const subject of ['A broken lamp', 'A late parcel', 'A wrong bill']) await desk.open({ subject })
    const contact = { externalId: 'customer-9', name: 'Grace Hopper', email: 'grace@example.org' }
    const made = await desk.client.request('POST', `/agents/${desk.agentId}/contacts`, contact)
    assert.ok(made.status < 300, JSON.stringify(made.body))
    page = await pageOf(browser, service, owner)
    page.setDefaultTimeout(120_000)
  })
  after(async () => {
    await browser?.close()
    await service?.close()
    await models?.close()
  })

  const go = (path: string, on = page) => on.goto(`${service.url}/agents/${desk.agentId}${path}`)
  const heading = (level: number, name: string) =>
    page.getByRole('heading', { level, name, exact: true }).waitFor()

  test('notices cover neither the title and the state of a ticket nor the reply field', async () => {
    const boxOf = async (target: Locator) => {
      const box = await target.boundingBox()
      assert.ok(box)
      return box
    }
    for (const [width, height] of [
      [1280, 860],
      [1000, 700],
      [390, 844],
    ] as const) {
      await page.setViewportSize({ width, height })
      const { ticketNumber } = await desk.open({ subject: `Solved on ${width}` })
      await go(`/inbox?ticket=${ticketNumber}`)
      await page.getByRole('button', { name: 'Solve', exact: true }).click()
      const notice = page.getByRole('region', { name: 'Notices' }).getByText('is solved')
      await notice.waitFor()
      const ticket = page.getByRole('region', { name: 'Ticket', exact: true })
      // Solving opens the next ticket; until that is read, there is no form to stand above.
      await until('the notice covers neither', async () => {
        const shown = await boxOf(notice.locator('..'))
        const targets = [ticket.locator('header').first(), ticket.getByRole('region', { name: 'Write' })]
        const areApart = (await Promise.all(targets.map(boxOf))).every(
          ({ x, y, width: w, height: h }) =>
            x + w <= shown.x || shown.x + shown.width <= x || y + h <= shown.y || shown.y + shown.height <= y,
        )
        return areApart && shown.y > height / 2
      })
      await page.getByRole('button', { name: 'Dismiss' }).click()
    }
    await page.setViewportSize({ width: 1280, height: 860 })
  })

  test('after the first ticket was opened by a key, Back leads to the list', async () => {
    await go('/inbox')
    await heading(2, 'Choose a ticket')
    await page.keyboard.press('?')
    const help = page.getByRole('dialog', { name: 'Keyboard' })
    for (const what of ['Next ticket', 'Reply', 'Write a note', 'Assign', 'Solve, or open again'])
      await help.getByText(what, { exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('j')
    await page.getByRole('region', { name: 'Ticket', exact: true }).waitFor()
    await page.goBack()
    await heading(2, 'Choose a ticket')
    await heading(1, 'Inbox')
  })

  test('Ctrl K finds tickets, contacts, agents and settings', async () => {
    const { body } = await desk.client.request('POST', '/agents', { name: 'Second agent' })
    await go('')
    await page.getByRole('button', { name: /Go to/ }).waitFor()
    const find = async (text: string, name: RegExp) => {
      await page.keyboard.press('ControlOrMeta+k')
      await page.getByRole('combobox', { name: /^Go to/ }).fill(text)
      await page.getByRole('option', { name }).waitFor()
      assert.deepEqual(await brokenRules(page, { iframes: false }), [])
      await page.keyboard.press('Enter')
    }
    await find('late parcel', /^#\d+ A late parcel/)
    await heading(2, 'A late parcel')
    await find('grace hop', /^Grace Hopper/)
    await page.getByRole('dialog', { name: 'Grace Hopper' }).waitFor()
    await page.keyboard.press('Escape')
    await find('countries', /^Countries/)
    await heading(1, 'Settings')
    const section = page.getByRole('region', { name: 'Countries' })
    await until('the section', async () => ((await section.boundingBox())?.y ?? 9_999) < 500)
    await find('whatsapp', /WhatsApp/)
    await page.getByRole('tab', { name: /WhatsApp/, selected: true }).waitFor()
    await find('audit', /^Audit log/)
    await page.getByRole('tab', { name: 'Audit log', selected: true }).waitFor()
    await find('second ag', /^Second agent/)
    await page.waitForURL(`**/agents/${body.id}`)
  })

  test('two quick clicks on a button that changes nothing are two', async () => {
    await go('/deploy?tab=messaging')
    await page.getByRole('group', { name: 'New account' }).waitFor()
    // A real pointer would miss the button the second time, which moves down.
    const button = page.getByRole('button', { name: 'Another account' })
    await button.evaluate(clickOf(1))
    await page.getByRole('group', { name: 'New account' }).nth(1).waitFor()
    await button.evaluate(clickOf(2))
    assert.equal(await page.getByRole('group', { name: 'New account' }).count(), 3)
  })

  test('a name that is too long is refused with a sentence, and not cut', async () => {
    const name = 'Bea the helpful lamp '.repeat(6)
    const agents = async () => (await desk.client.request('GET', '/agents')).body.data.length
    const before = await agents()
    await page.goto(`${service.url}/agents/new`)
    const field = page.getByLabel('Name', { exact: true })
    await field.fill(name)
    await page.getByText('Shorten this to at most 100 characters. It has 126.').waitFor()
    assert.deepEqual(await brokenRules(page, { iframes: false }), [])
    await page.getByRole('button', { name: 'Create the agent' }).click()
    assert.equal(await field.inputValue(), name)
    await field.fill('Bea')
    await page.getByText('Shorten this').waitFor({ state: 'detached' })
    assert.equal(await agents(), before)
  })

  test('an answer without words says so, and why', async () => {
    models.queue.push({ tokens: [], finishReason: 'length' }, { tokens: [], finishReason: 'length' })
    const path = `/agents/${desk.agentId}/chat`
    const { body } = await desk.client.request('POST', path, { message: 'And now?', stream: false })
    await go(`/conversations?open=${body.data.metadata.conversationId}`)
    const answer = page.getByRole('article', { name: 'Agent' })
    await answer
      .getByText('No answer was given. The model used up its tokens before the first word.')
      .waitFor()
  })

  test('offline, the workspace says so, and comes back by itself', async () => {
    await go('/inbox')
    await page.getByRole('region', { name: 'Tickets' }).getByRole('listitem').first().waitFor()
    const banner = page.getByText('You are offline. The workspace continues')
    await page.context().setOffline(true)
    await banner.waitFor()
    // Its code has not been loaded yet.
    await page.getByRole('link', { name: 'Insights' }).click()
    await page.getByRole('alert').getByText('You are offline').waitFor()
    assert.deepEqual(await brokenRules(page, { iframes: false }), [])
    await page.context().setOffline(false)
    await heading(1, 'Insights')
    await banner.waitFor({ state: 'detached' })
    await page.context().setOffline(true)
    // Its code is there, but its data is not.
    await page.getByRole('link', { name: 'Inbox' }).click()
    await page.getByRole('button', { name: /^Solved/ }).click()
    await page.getByRole('alert').getByText('You are offline').waitFor()
    await page.context().setOffline(false)
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await page.getByRole('region', { name: 'Tickets' }).getByText('Solved on 390').waitFor()
  })

  test('what a tab keeps is the member’s own, and is not written for each word', async () => {
    const other = await memberOf(service, desk.client.accountId, 'builder')
    const own = await pageOf(browser, service, owner)
    await own.addInitScript(`{
      globalThis.writes = 0
      const set = Storage.prototype.setItem
      Storage.prototype.setItem = function (...what) { globalThis.writes++; return set.apply(this, what) }
    }`)
    models.queue.push({ tokens: Array.from({ length: 60 }, (_, at) => `word${at} `), delayMs: 20 })
    await go('/playground', own)
    await own.getByLabel('Question').fill('What is it?')
    await own.keyboard.press('Enter')
    await own.getByText('word2').waitFor()
    const before = Number(await own.evaluate('writes'))
    await own.getByText('word57').waitFor()
    assert.ok(Number(await own.evaluate('writes')) - before < 5)
    await own.getByText('Ended by').waitFor()
    await own.getByLabel('Question').fill('A secret')
    await own.context().clearCookies()
    await own
      .context()
      .addCookies([...other.cookies].map(([name, value]) => ({ name, value, url: service.url })))
    await own.reload()
    await own.getByText('Ask what a visitor would ask.').waitFor()
    assert.equal(await own.getByLabel('Question').inputValue(), '')
    assert.ok(!JSON.stringify(await own.evaluate('({ ...sessionStorage })')).includes('A secret'))
    await own.context().close()
  })
})
