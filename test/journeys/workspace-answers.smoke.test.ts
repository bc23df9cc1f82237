import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { lookNow } from '../../server/conversations/insights/analysis/for-tests.ts'
import { brokenRules } from '../broken-rules.ts'
import { findBrowser } from '../find-browser.ts'
import { launchChromium } from '../launch-chromium.ts'
import { type Client, type Service, startService } from '../start.ts'
import { until } from '../until.ts'
import { memberOf, type Worker } from '../workspace.ts'
import { pageOf } from '../workspace-page.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'

const VISITOR = 'visitor-JGKUlik8n6BWYiEUejRhfRyvU-iMEUOmP3GCiAqCuQ8'
const MILK = 'Do you sell oat milk?'
const BAG = 'My coffee bag arrived torn, who pays for it?'
const BICYCLE = 'Where can I park my bicycle?'
const PRIVATE = 'So sorry, Eve! A new bag leaves for 4 Elm Road today.'

describe('what the agent could not answer', { skip }, () => {
  let service: Service
  let browser: Browser
  let client: Client
  let owner: Worker
  let page: Page
  let agentId: string
  let conversationId: string
  /** What the agent said to all three questions. */
  let refusal: string
  let ticketNumber: number
  const failed: string[] = []

  before(async () => {
    service = await startService()
    browser = await launchChromium()
    client = await service.account()
    owner = await memberOf(service, client.accountId, 'owner')
    agentId = (await client.request('POST', '/agents', { name: 'Shop' })).body.id
    for (const message of [MILK, BICYCLE, BAG]) {
      const body = { stream: false, message, conversationId, userId: VISITOR }
      const { data } = (await client.request('POST', `/agents/${agentId}/chat`, body)).body
      conversationId = data.metadata.conversationId
      refusal = data.parts[0].text
    }
    const takeover = `/agents/${agentId}/conversations/${conversationId}/takeover`
    const { body } = await client.request('POST', takeover, { memberId: owner.memberId })
    ticketNumber = body.data.ticketNumber
    const messages = `/agents/${agentId}/helpdesk/tickets/${ticketNumber}/messages`
    const reply = { type: 'reply', content: PRIVATE, authorId: owner.memberId }
    assert.equal((await client.request('POST', messages, reply)).status, 201)
    await lookNow(service.ctx, agentId)
    await service.ctx.indexer.run(service.ctx.db)
    page = await pageOf(browser, service, owner)
    page.setDefaultTimeout(120_000)
    page.on('response', (response) => {
      if (response.status() >= 400 && response.request().method() === 'GET') failed.push(response.url())
    })
  })
  after(async () => {
    await browser?.close()
    await service?.close()
  })

  const go = (path: string) => page.goto(`${service.url}${path}`)
  const questions = (title = 'Unanswered questions') =>
    page
      .locator('section')
      .filter({ has: page.getByRole('heading', { name: title }) })
      .getByRole('listitem')
  const field = (name: string) => page.getByRole('dialog').getByLabel(name, { exact: true })
  const isFocused = (name: string) => field(name).and(page.locator(':focus')).waitFor()

  test('an answer starts empty, and is not what the agent or a colleague has said', async () => {
    await go(`/agents/${agentId}/insights`)
    const row = (question: string) => questions().filter({ hasText: question })
    await row(BAG).getByRole('button', { name: 'Answer' }).click()
    await page
      .getByRole('region', { name: 'What a colleague wrote to one visitor' })
      .getByText(PRIVATE)
      .waitFor()
    assert.equal(await field('Answer').inputValue(), '')
    await page.keyboard.press('Escape')

    await row(MILK).getByRole('button', { name: 'Answer' }).click()
    await isFocused('Answer')
    assert.equal(await field('Answer').inputValue(), '')
    assert.equal(await page.getByText(PRIVATE).count(), 0)
    await field('Answer').fill(refusal)
    await page.getByRole('button', { name: 'Save the answer' }).click()
    await page.getByText('The agent has said just this.').waitFor()
    assert.deepEqual(await brokenRules(page, { iframes: false }), [])
    await field('Answer').fill('Yes, one litre for 2 euros.')
    await page.getByRole('button', { name: 'Save the answer' }).click()
    await row(MILK).waitFor({ state: 'detached' })
  })

  test('a correction starts empty beside the wrong answer; what it answers leaves the lists, and the rest was asked again', async () => {
    await go(`/agents/${agentId}/conversations?open=${conversationId}`)
    const messages = page.getByRole('region', { name: 'Messages' })
    await messages.getByText(PRIVATE).waitFor()
    await messages.getByRole('button', { name: 'Correct' }).nth(1).click()
    await isFocused('The right answer')
    assert.equal(await field('The right answer').inputValue(), '')
    assert.equal(await field('Question').inputValue(), BICYCLE)
    const said = page.getByRole('region', { name: 'What the agent said' })
    assert.match(await said.innerText(), new RegExp(refusal.split('.')[0]!))
    await field('The right answer').fill(refusal)
    await page.getByRole('button', { name: 'Save the correction' }).click()
    await page.getByText('The agent has said just this.').waitFor()
    assert.deepEqual(await brokenRules(page, { iframes: false }), [])
    await field('The right answer').fill('Behind the house.')
    await page.getByRole('button', { name: 'Save the correction' }).click()
    await page.getByText('The agent will say this from now on.').waitFor()

    await until('the end of the asking', async () => {
      await go(`/agents/${agentId}/insights`)
      await questions().first().waitFor()
      return (
        (await questions().count()) === 1 &&
        /Asked again .*: still not found\./.test(await questions().innerText())
      )
    })
    assert.ok((await questions().innerText()).includes(BAG))
    await go(`/agents/${agentId}`)
    await questions().first().waitFor()
    assert.deepEqual(await questions().allInnerTexts(), [`${BAG}\n1×`])
  })

  test('a person is shown by a name and not by an id, in the conversation, in its export and in the audit log', async () => {
    await go(`/agents/${agentId}/conversations?open=${conversationId}`)
    const header = page.locator('header').filter({ hasText: MILK })
    await header.getByText('Visitor AqCuQ8').waitFor()
    assert.ok(!(await header.innerText()).includes(VISITOR))
    assert.equal(await header.getByText('Visitor AqCuQ8').locator('..').getAttribute('title'), VISITOR)

    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export what is listed' }).click()
    await page.getByRole('menuitem', { name: /Table/ }).click()
    const rows = (await readFile(await (await saved).path(), 'utf8')).split('\r\n')
    assert.match(rows[1]!, /,API,With a person,visitor-/)
    assert.match(rows[1]!, /,Visitor,/)

    await client.request('PUT', `/agents/${agentId}`, { instructions: 'Be kind.', model: 'auto', temp: 0 })
    const invited = { email: 'new@example.com', role: 'support', agentIds: null }
    const made = await client.request('POST', '/invitations', invited)
    assert.equal(made.status, 201, JSON.stringify(made.body))
    await go('/workspace?tab=audit')
    const log = page.getByRole('table')
    await log.getByText('invited somebody').waitFor()
    const words = await log.innerText()
    assert.doesNotMatch(words, /…|[\da-f]{8}-[\da-f]{4}|member id|none/)
    assert.match(words, /new@example\.com\s+role: support; all agents/)
    assert.match(words, /Shop\s+changed: instructions\s/)
    assert.match(words, /took over a conversation\s+Shop\s+member: owner/)
  })

  test('a ticket of a visitor who is no contact asks for nothing that does not exist', async () => {
    failed.length = 0
    const asked = page.waitForResponse(/\/contacts\?/)
    await go(`/agents/${agentId}/inbox?ticket=${ticketNumber}`)
    await page.getByRole('region', { name: 'Customer' }).getByText('The whole conversation').waitFor()
    await asked
    assert.deepEqual(failed, [])
    // A contact is found by the same id, with what is known about it.
    const contact = { externalId: VISITOR, name: 'Eve', customAttributes: {} }
    assert.equal((await client.request('POST', `/agents/${agentId}/contacts`, contact)).status, 201)
    await page.reload()
    await page.getByRole('region', { name: 'Customer' }).getByText('Eve').waitFor()
    assert.deepEqual(failed, [])
  })
})
