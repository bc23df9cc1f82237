import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Locator, Page } from 'playwright-core'
import { brokenRules } from '../broken-rules.ts'
import { findBrowser } from '../find-browser.ts'
import { keyboardOf } from '../keyboard.ts'
import { launchChromium } from '../launch-chromium.ts'
import { type Desk, openDesk, write } from '../open-desk.ts'
import { type Service, startService } from '../start.ts'
import { until } from '../until.ts'
import { memberOf, type Worker } from '../workspace.ts'
import { CLICKED, pageOf, pressTwice } from '../workspace-page.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'

describe('a Monday morning in the inbox, by keyboard alone', { skip }, () => {
  let service: Service
  let browser: Browser
  let desk: Desk
  let lead: Worker
  let page: Page
  let keys: ReturnType<typeof keyboardOf>

  before(async () => {
    // Opening so many tickets would exceed the usual rate limit.
    service = await startService({ TRUSTED_PROXIES: '127.0.0.1' })
    browser = await launchChromium()
    desk = await openDesk(service, ['Sam Lee'])
    lead = await memberOf(service, desk.client.accountId, 'support', { email: 'lea@example.com' })
    for (let n = 1; n <= 130; n++) {
      await desk.open({
        subject: `Lamp ${n}`,
        description: `Lamp ${n} does not shine.`,
        customer: { email: `customer-${n}@example.org`, name: `Customer ${n}` },
        assigneeId: null,
        priority: n % 50 === 0 ? 'urgent' : 'normal',
      })
    }
    page = await pageOf(browser, service, lead)
    keys = keyboardOf(page)
    // Counts the sounds that are played.
    await page.addInitScript(`{
      globalThis.tones = 0
      const start = OscillatorNode.prototype.start
      OscillatorNode.prototype.start = function (...when) { globalThis.tones++; return start.apply(this, when) }
    }`)
    await page.goto(`${service.url}/agents/${desk.agentId}/inbox`)
    await rows().first().waitFor()
  })
  after(async () => {
    await browser?.close()
    await service?.close()
  })

  const rows = () => page.getByRole('region', { name: 'Tickets' }).getByRole('listitem')
  const row = (text: string) => rows().getByRole('button').filter({ hasText: text })
  const open = (target: Locator) => keys.pick(rows(), target)
  const current = () => page.locator('[aria-current=true]')
  const heading = (subject: string) => page.getByRole('heading', { level: 2, name: subject, exact: true })
  const press = (key: string) => keys.press(key)
  const focused = (label: string) => page.locator(':focus').and(page.getByLabel(label)).waitFor()
  const ticket = async (number: number) => (await desk.call('GET', `/tickets/${number}`)).body
  const messages = async (number: number, types: string) =>
    (await desk.call('GET', `/tickets/${number}/messages?types=${types}`)).body.data

  test('keys move through the list, and beyond its first page', async () => {
    await press('j')
    await heading('Lamp 130').waitFor()
    await pressTwice(page, 'j')
    await heading('Lamp 128').waitFor()
    await pressTwice(page, 'k')
    await heading('Lamp 130').waitFor()
    for (let n = 130; n > 70; n--) {
      await heading(`Lamp ${n}`).waitFor()
      await press('j')
    }
    await heading('Lamp 70').waitFor()
    await current().getByText('Lamp 70', { exact: true }).waitFor()
    assert.ok((await rows().count()) > 50)
    const bottom = await page.evaluate<number>(
      "document.querySelector('[aria-current=true]').getBoundingClientRect().bottom",
    )
    assert.ok(bottom <= 860, `the row ends at ${bottom}`)
  })

  test('a key solves a ticket and opens the next one, and can be undone', async () => {
    await press('e')
    await heading('Lamp 69').waitFor()
    // The next ticket opens before the service has answered.
    await until('the ticket is solved', async () => (await ticket(70)).statusCategory === 'closed')
    await page.getByRole('button', { name: 'Undo' }).waitFor()
    await press('z')
    await until('the ticket is open again', async () => (await ticket(70)).statusCategory === 'new')
    await page.getByRole('button', { name: /^Open/ }).getByText('130').waitFor()
  })

  test('a snoozed ticket leaves the list, says when it returns, and is woken by hand', async () => {
    await row('Lamp 69 does not shine').waitFor()
    const details = page.getByRole('complementary', { name: 'Details' })
    await keys.use(details.getByRole('button', { name: 'Snooze' }))
    await page.getByRole('menuitem', { name: /^Tomorrow/ }).waitFor()
    await press('ArrowDown')
    await press('Enter')
    await details.getByText(/^Snoozed until/).waitFor()
    await until('it has left the list', async () => (await row('Lamp 69 does not shine').count()) === 0)
    assert.equal((await ticket(69)).statusCategory, 'on_hold')
    await keys.use(page.getByRole('button', { name: /^Snoozed/ }))
    await row('Returns tomorrow').waitFor()
    await open(row('Lamp 69'))
    await page
      .getByLabel('Messages')
      .getByText(/Snoozed until/)
      .waitFor()
    await keys.use(details.getByRole('button', { name: 'Wake it now' }))
    await until('it is awake', async () => (await ticket(69)).statusCategory === 'on_you')
    await keys.use(page.getByRole('button', { name: /^Open/ }))
    await open(row('Lamp 69'))
    await heading('Lamp 69').waitFor()
  })

  test('r replies, with a preview, and a draft waits for its ticket', async () => {
    await press('r')
    await focused('Reply to the customer')
    await page.keyboard.type('We send you a **new bulb**, e, j and k are letters here.')
    await press('Escape')
    await press('j')
    await heading('Lamp 68').waitFor()
    assert.equal(await page.getByLabel('Reply to the customer').inputValue(), '')
    await press('k')
    await heading('Lamp 69').waitFor()
    await keys.use(page.getByRole('button', { name: 'Preview' }))
    await page.getByRole('region', { name: 'Preview' }).getByText('new bulb').waitFor()
    await press('r')
    await focused('Reply to the customer')
    await press('Control+Enter')
    await page.getByRole('article', { name: 'Message of support' }).getByText('new bulb').waitFor()
    // The search field has returned the focus. The ticket is the newest now, so the next one is the one that was the
    // newest before.
    await current().getByText('Waiting on customer').waitFor()
    await until('the new order', async () => ((await rows().first().textContent()) ?? '').includes('Lamp 69'))
    await press('j')
    await heading('Lamp 130').waitFor()
    assert.equal((await ticket(69)).statusCategory, 'on_customer')
    const [reply] = await messages(69, 'reply')
    assert.match(reply.contentText, /e, j and k are letters here/)
  })

  test('n writes a note, in which @ mentions a colleague', async () => {
    await press('n')
    await focused('Note for the team')
    await page.keyboard.type('Could @le')
    await page
      .getByRole('listbox', { name: 'Members' })
      .getByRole('option', { name: /Sam Lee/ })
      .waitFor()
    await press('Enter')
    await page.keyboard.type('look at it?')
    await press('Control+Enter')
    await page.getByRole('article', { name: 'Note of support' }).getByText('look at it?').waitFor()
    const [note] = await messages(130, 'note')
    assert.equal(note.contentText, 'Could @Sam Lee look at it?')
    assert.deepEqual(note.metadata.mentions, [{ id: desk.members['Sam Lee'], name: 'Sam Lee' }])
    await desk.call('POST', '/tickets/12/notes', {
      content: 'What do you think, @lea@example.com?',
      authorId: desk.members['Sam Lee'],
    })
    await keys.use(page.getByRole('button', { name: /^Mentions 1/ }))
    await until('the list of mentions', async () => (await rows().count()) === 1)
    await open(row('Lamp 12'))
    await heading('Lamp 12').waitFor()
  })

  test("a assigns a ticket, and the list can be limited to one's own", async () => {
    await press('a')
    await focused('Assign to')
    await page.keyboard.type('you')
    await press('Enter')
    await until('the assignee', async () => (await ticket(12)).assigneeId === lead.memberId)
    await keys.use(page.getByRole('button', { name: /^Mine 1/ }))
    await until('the list of what is mine', async () => (await rows().count()) === 1)
    // Text that is typed at once, before the members have been loaded, counts as well.
    let release = (): void => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const members = /\/helpdesk\/members$/
    await page.route(members, async (route) => {
      await held
      await route.continue()
    })
    await open(row('Lamp 12'))
    await page.reload()
    await heading('Lamp 12').waitFor()
    await press('a')
    await page.keyboard.type('sam')
    await press('Enter')
    await page.getByRole('dialog', { name: 'Assign' }).getByText('Loading…').waitFor()
    release()
    await page.getByText('Nothing is yours').waitFor()
    await page.unroute(members)
    assert.equal((await ticket(12)).assigneeId, desk.members['Sam Lee'])
  })

  test("priority, status and tags are set in the ticket's side panel", async () => {
    const details = page.getByRole('complementary', { name: 'Details' })
    await keys.choose(details.getByLabel('Priority'), 'High')
    await keys.choose(details.getByLabel('Status'), 'On hold')
    await keys.use(details.getByRole('button', { name: 'New tag' }))
    await keys.write(details.getByLabel('Name of the tag'), 'Warranty')
    await press('Enter')
    await details.getByRole('checkbox', { name: 'Warranty', checked: true }).waitFor()
    await until('the changes', async () => {
      const { priority, statusCategory } = await ticket(12)
      return priority === 'high' && statusCategory === 'on_hold'
    })
    const { body: tags } = await desk.call('GET', '/tickets/12/tags')
    assert.deepEqual(
      tags.map(({ name }: { name: string }) => name),
      ['Warranty'],
    )
    // Two tags in a row are both kept, however late the service answers.
    for (const name of ['Billing', 'Repair']) {
      const { status } = await desk.client.request('POST', `/agents/${desk.agentId}/helpdesk/tags`, {
        name,
        color: '#0f766e',
      })
      assert.equal(status, 201)
    }
    let held = Promise.withResolvers<void>()
    await page.route('**/tickets/12/tags', async (route) => {
      await held.promise
      await route.continue()
    })
    await page.reload()
    const billing = details.getByRole('checkbox', { name: 'Billing' })
    await billing.waitFor()
    assert.equal(await billing.isDisabled(), true, 'a tag could replace those that are not known yet')
    held.resolve()
    await details.getByRole('checkbox', { name: 'Warranty', checked: true }).waitFor()
    held = Promise.withResolvers()
    for (const name of ['Billing', 'Repair'])
      assert.equal(await details.getByRole('checkbox', { name }).evaluate(CLICKED), true, name)
    assert.equal(await billing.isChecked(), true)
    held.resolve()
    await until('the tags', async () => (await desk.call('GET', '/tickets/12/tags')).body.length === 3)
    await page.unroute('**/tickets/12/tags')
    // A tag that the service rejects is removed again.
    await page.route('**/tickets/12/tags', (route) => route.abort())
    assert.equal(await billing.evaluate(CLICKED), false)
    await keys.use(page.getByRole('region', { name: 'Notices' }).getByRole('button', { name: 'Dismiss' }))
    await details.getByRole('checkbox', { name: 'Billing', checked: true }).waitFor()
    await page.unroute('**/tickets/12/tags')
    await keys.use(page.getByRole('button', { name: /^Open/ }))
    await keys.use(page.getByRole('button', { name: 'Urgent and high' }))
    await until('the urgent ones', async () => (await rows().count()) === 3)
    await keys.use(page.getByRole('button', { name: 'Urgent and high' }))
  })

  test('a change over the rate limit is sent again, unless that would take long', async () => {
    const waits = ['0', '0']
    const path = '**/helpdesk/tickets/129'
    await page.route(path, async (route) => {
      const wait = route.request().method() === 'PATCH' && waits.shift()
      if (!wait) return route.continue()
      const error = { code: 'RATE_LIMIT_EXCEEDED', message: 'Too many requests in a short time.' }
      await route.fulfill({ status: 429, headers: { 'retry-after': wait }, json: { error } })
    })
    const priority = page.getByRole('complementary', { name: 'Details' }).getByLabel('Priority')
    await open(row('Lamp 129'))
    await heading('Lamp 129').waitFor()
    await keys.choose(priority, 'Low')
    await until('the change', async () => (await ticket(129)).priority === 'low')
    assert.equal(waits.length, 0)
    waits.push('3600')
    // Typing its name would choose it again after it was put back.
    await priority.selectOption('urgent')
    const notices = page.getByRole('region', { name: 'Notices' })
    await notices.getByText('Too many requests').waitFor()
    await until('the stored priority', async () => (await priority.inputValue()) === 'low')
    assert.equal((await ticket(129)).priority, 'low')
    assert.equal(waits.length, 0)
    await keys.use(notices.getByRole('button', { name: 'Dismiss' }))
    await page.unroute(path)
  })

  test('a canned reply is created, filled in and used', async () => {
    await open(row('Lamp 125'))
    await heading('Lamp 125').waitFor()
    const canned = page.getByRole('button', { name: 'Canned replies' })
    await keys.menu(canned, 'New canned reply')
    const dialog = page.getByRole('dialog', { name: 'New canned reply' })
    await keys.write(dialog.getByLabel('Name'), 'Ask for a picture')
    await keys.write(dialog.getByLabel('Text'), 'Hello {{customer.name}}, could you send a picture?')
    await keys.use(dialog.getByRole('button', { name: 'Keep the reply' }))
    await dialog.waitFor({ state: 'detached' })
    await keys.menu(canned, 'Ask for a picture')
    await page.getByText('Hello Customer 125, could you send a picture?').waitFor()
    await keys.use(page.getByRole('button', { name: 'Send the reply' }))
    await page.getByRole('article', { name: 'Message of support' }).getByText('Hello Customer 125').waitFor()
  })

  test('a slash starts a search as you type, and Escape returns to the list', async () => {
    await press('/')
    await focused('Search tickets')
    await page.keyboard.type('customer-77@example.org')
    await until('the hit', async () => (await rows().count()) === 1)
    await rows().getByText('Lamp 77').waitFor()
    await press('Escape')
    await until('the list', async () => (await rows().count()) > 1)
  })

  test('the list follows others: a new message of a customer is shown and announced', async () => {
    await press('?')
    const help = page.getByRole('dialog', { name: 'Keyboard' })
    for (const what of ['Next ticket', 'Reply', 'Write a note', 'Assign', 'Search', 'Solve, or open again'])
      await help.getByText(what, { exact: true }).waitFor()
    await press('Escape')
    await help.waitFor({ state: 'detached' })
    const unread = async () => Number(/^\((\d+)\+?\)/.exec(await page.title())?.[1] ?? 0)
    await until('the count in the title', async () => (await unread()) > 0)
    assert.equal(await page.evaluate('tones'), 0)
    const conversationId = await write(service, desk, 'My lamp flickers since yesterday')
    const path = `/agents/${desk.agentId}/conversations/${conversationId}/takeover`
    const taken = await desk.client.request('POST', path, { memberId: desk.members['Sam Lee'] })
    assert.equal(taken.status, 200, JSON.stringify(taken.body))
    await write(service, desk, 'Is anybody there?')
    await until('the sound', async () => Number(await page.evaluate('tones')) >= 2)
    const { ticketNumber } = taken.body.data
    await open(row(`#${ticketNumber} `))
    await page.getByLabel('Messages').getByText('Is anybody there?').waitFor()
    await keys.use(page.getByRole('button', { name: 'Hand back to the agent' }))
    await until('the agent has it', async () => {
      const { body } = await desk.client.request('GET', `/agents/${desk.agentId}/conversations/export`)
      return body.data.some(
        ({ id, status }: { id: string; status: string }) => id === conversationId && status === 'ongoing',
      )
    })
    await page.getByRole('button', { name: 'Take over from the agent' }).waitFor()
    await keys.use(page.getByRole('button', { name: 'Sound for new messages' }))
    assert.equal(await page.evaluate("localStorage.getItem('parley:sound')"), 'off')
  })

  test('a conversation that was handed back is taken over from its ticket', async () => {
    await keys.use(page.getByRole('button', { name: 'Take over from the agent' }))
    await page.getByText('The conversation is yours now.').waitFor()
    await page.getByRole('button', { name: 'Hand back to the agent' }).waitFor()
  })

  test('no page breaks an accessibility rule, light or dark', async () => {
    const found: string[] = []
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      for (const { id, nodes } of await brokenRules(page))
        found.push(`${colorScheme} ${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
    }
    assert.deepEqual(found, [])
  })

  test('on a phone, a ticket fills the page, and its details open over it', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(`${service.url}/agents/${desk.agentId}/inbox`)
    await open(row('Lamp 120'))
    await heading('Lamp 120').waitFor()
    assert.equal(await rows().first().isVisible(), false)
    await keys.use(page.getByRole('button', { name: 'Details' }))
    await page.getByRole('dialog', { name: 'Details' }).getByText('customer-120@example.org').waitFor()
    await press('Escape')
    await keys.use(page.getByRole('button', { name: 'Back to the list' }))
    await rows().first().waitFor()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
  })

  test('a viewer can read, and sees no controls for what is not permitted', async () => {
    const viewer = await memberOf(service, desk.client.accountId, 'viewer')
    const other = await pageOf(browser, service, viewer)
    await other.goto(`${service.url}/agents/${desk.agentId}/inbox?ticket=120`)
    await other.getByRole('heading', { name: 'Lamp 120' }).waitFor()
    for (const name of ['Solve', 'Send the reply', 'New tag', 'Assign to me'])
      assert.equal(await other.getByRole('button', { name, exact: true }).count(), 0, name)
    assert.equal(await other.getByRole('complementary').getByLabel('Status').isDisabled(), true)
    await other.context().close()
  })
})
