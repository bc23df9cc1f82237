import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { createLink, linkTo } from '../../server/accounts/links/links.ts'
import { createAccount } from '../../server/accounts/records/accounts.ts'
import { type ModelServer, startModelServer } from '../fakes/model-server.ts'
import { findBrowser } from '../find-browser.ts'
import { keyboardOf } from '../keyboard.ts'
import { launchChromium } from '../launch-chromium.ts'
import { type Client, type Service, startService } from '../start.ts'
import { trained } from '../until.ts'
import { memberOf, type Worker } from '../workspace.ts'
import { pageOf } from '../workspace-page.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'

const WARRANTY = 'The Halo lamp has a warranty of five years.'

describe('stories of a team and its visitors, by keyboard alone', { skip }, () => {
  let service: Service
  let models: ModelServer
  let browser: Browser
  let client: Client
  let owner: Page
  let keys: ReturnType<typeof keyboardOf>
  let ownerSession: Worker
  let agentId: string

  before(async () => {
    models = await startModelServer()
    service = await startService(models.settings)
    client = await service.account({ name: 'Bright Lamps' })
    agentId = (await client.request('POST', '/agents', { name: 'Lumi', visibility: 'public' })).body.id
    await add({ type: 'text', name: 'Warranty', content: WARRANTY })
    await add({ type: 'text', name: 'Shop', content: 'Our shop in Bergen opens at ten on weekdays.' })
    browser = await launchChromium()
    ownerSession = await memberOf(service, client.accountId, 'owner')
    owner = await pageOf(browser, service, ownerSession)
    keys = keyboardOf(owner)
  })
  after(async () => {
    await browser?.close()
    await service?.close()
    await models?.close()
  })

  async function add(source: object): Promise<void> {
    const { status, body } = await client.request('POST', `/agents/${agentId}/sources`, source)
    assert.equal(status, 201, JSON.stringify(body))
    await trained(service, body.id)
  }
  async function make(subject: string): Promise<void> {
    const body = { subject, description: 'Please help.', customer: { email: 'eve@example.org' } }
    const { status } = await client.request('POST', `/agents/${agentId}/helpdesk/tickets`, body)
    assert.equal(status, 201)
  }
  const open = (path: string) => owner.goto(`${service.url}/agents/${agentId}${path}`)

  test('the search test says why a source was missed, and finds it after the cause is fixed', async () => {
    const question = 'Can I bring my dog?'
    await open('/search')
    await keys.choose(owner.getByLabel('Expected source (optional)'), 'Shop')
    await keys.write(owner.getByLabel('Question'), question)
    await owner.keyboard.press('Enter')
    const found = owner.getByRole('region', { name: 'What was found' })
    await found.getByText('it may use other words').waitFor()
    await add({ type: 'qna', name: 'Dogs', questions: [question], answer: 'Dogs are welcome in our shop.' })
    await owner.reload()
    await keys.choose(owner.getByLabel('Expected source (optional)'), 'Dogs')
    await keys.write(owner.getByLabel('Question'), question)
    await owner.keyboard.press('Enter')
    const first = found.getByRole('article', { name: 'Passage 1', exact: true })
    await first.getByText('Dogs are welcome').waitFor()
    await first.getByText('place 1').waitFor()
    await found.getByText('enough to answer from').waitFor()
    assert.equal(await found.getByText('it may use other words').count(), 0)
  })

  test('a visitor asks for a person, a colleague takes over, replies and hands back', async () => {
    const escalate = { name: 'escalate', type: 'escalate', description: 'When a person is wanted' }
    assert.equal((await client.request('POST', `/agents/${agentId}/actions`, escalate)).status, 201)
    await open('/inbox')
    const rows = owner.getByRole('region', { name: 'Tickets' }).getByRole('listitem')
    const visitor = await pageOf(browser, service)
    await visitor.goto(`${service.url}/widget/${agentId}`)
    const say = async (text: string): Promise<void> => {
      await keyboardOf(visitor).write(visitor.getByLabel('Message', { exact: true }), text)
      await visitor.keyboard.press('Enter')
    }
    const input = { subject: 'The lamp flickers', summary: 'The lamp of the visitor flickers.' }
    models.queue.push(
      { toolCalls: [{ id: 'call-1', name: 'escalate', input }] },
      { tokens: ['I ask the team.'] },
    )
    await say('My lamp flickers, can a person help me?')
    await visitor.getByText('I ask the team.').waitFor()
    // The ticket appears in the open inbox without a reload.
    await keys.pick(rows, rows.getByRole('button').filter({ hasText: 'The lamp flickers' }))
    await owner.getByRole('heading', { level: 2, name: 'The lamp flickers' }).waitFor()
    await keys.use(owner.getByRole('button', { name: 'Take over from the agent' }))
    await keys.write(owner.getByLabel('Reply to the customer'), 'Sam here. We send you a **new bulb**.')
    await keys.use(owner.getByRole('button', { name: 'Send the reply' }))
    await visitor.getByText('new bulb').waitFor()
    await say('Thank you! Nothing else.')
    await owner.getByLabel('Messages').getByText('Thank you! Nothing else.').waitFor()
    await keys.use(owner.getByRole('button', { name: 'Hand back to the agent' }))
    await owner.getByRole('button', { name: 'Take over from the agent' }).waitFor()
    models.queue.push({ tokens: ['Five years [1].'] })
    await say('How long is the warranty of the Halo lamp?')
    await visitor.getByText('Five years').waitFor()
    await visitor.context().close()
  })

  test('a ticket read in one browser is read in another, and many tabs share one stream', async () => {
    await make('A crack in the glass')
    const other = await pageOf(browser, service, ownerSession)
    const inbox = `${service.url}/agents/${agentId}/inbox`
    const row = (page: Page, subject: string) => page.getByRole('button', { name: new RegExp(subject) })
    const mark = (page: Page, subject: string) => row(page, subject).getByRole('img', { name: 'Unread' })
    await other.goto(inbox)
    await mark(other, 'A crack in the glass').waitFor()
    await mark(owner, 'A crack in the glass').waitFor()
    await row(other, 'A crack in the glass').click()
    await mark(owner, 'A crack in the glass').waitFor({ state: 'detached' })
    // Over HTTP/1.1 a browser has six connections to the service, so eight streams would leave none for anything else.
    const tabs: Page[] = []
    for (let n = 0; n < 7; n++) {
      const tab = await other.context().newPage()
      await tab.goto(inbox)
      await row(tab, 'A crack in the glass').waitFor()
      tabs.push(tab)
    }
    await other.close()
    await make('A second crack')
    for (const tab of [tabs[0], tabs[6]]) await row(tab as Page, 'A second crack').waitFor()
    await tabs[0]?.context().close()
  })

  test('files are sent with a reply, and one that is too large is reported', async () => {
    await owner.getByRole('button', { name: /A second crack/ }).click()
    const files = owner.getByRole('list', { name: 'Files of the reply' })
    await owner.getByLabel('Files to attach').setInputFiles([
      { name: 'manual.txt', mimeType: 'text/plain', buffer: Buffer.from('Turn it to the left.') },
      { name: 'nothing.txt', mimeType: 'text/plain', buffer: Buffer.alloc(0) },
    ])
    await files.getByText('The file is empty.').waitFor()
    await owner.getByLabel('Reply to the customer').fill('The manual is attached.')
    assert.equal(await owner.getByRole('button', { name: 'Send the reply' }).isDisabled(), true)
    await owner.getByRole('button', { name: 'Remove nothing.txt' }).click()
    await files.getByText('manual.txt').waitFor()
    await owner.getByRole('button', { name: 'Send the reply' }).click()
    const sent = owner.getByRole('article').filter({ hasText: 'The manual is attached.' })
    await sent.getByRole('link', { name: 'manual.txt' }).waitFor()
    await files.waitFor({ state: 'detached' })
  })

  test('a client action gets its result in the playground, and the answer continues', async () => {
    const inputs = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] }
    const action = { name: 'show_order', type: 'client', description: 'Shows an order', inputs }
    assert.equal((await client.request('POST', `/agents/${agentId}/actions`, action)).status, 201)
    await open('/playground')
    models.otherwise(({ body }) => ({
      tokens: [JSON.stringify(body).includes('on its way') ? 'It was shipped on Monday.' : 'An order'],
    }))
    models.queue.push({
      tokens: ['One moment. '],
      toolCalls: [{ id: 'call-2', name: 'show_order', input: { order: 'A1' } }],
    })
    await keys.write(owner.getByLabel('Question'), 'Where is my order A1?')
    await owner.keyboard.press('Enter')
    const result = owner.getByRole('form', { name: 'Result of show_order' })
    await result.getByText('"order":"A1"').waitFor()
    await keys.write(result.getByLabel('Result'), '{ "state": "on its way" }')
    await keys.use(result.getByRole('button', { name: 'Give the result' }))
    await owner.getByRole('log').getByText('It was shipped on Monday.').waitFor()
    await result.waitFor({ state: 'detached' })
    const why = owner.getByRole('complementary', { name: 'Why this answer' })
    await keys.use(why.locator('summary').filter({ hasText: /^Step 2: / }))
    await why.getByText(/show_order → .*on its way/).waitFor()
  })

  test('on a phone, the list of sources is as wide as the page', async () => {
    const phone = await pageOf(browser, service, await memberOf(service, client.accountId, 'owner'))
    await phone.setViewportSize({ width: 360, height: 740 })
    await phone.goto(`${service.url}/agents/${agentId}/sources`)
    await phone
      .getByRole('row', { name: /Warranty/ })
      .getByText('Live')
      .waitFor()
    await phone.getByRole('button', { name: 'Actions for Warranty' }).waitFor()
    const table = `document.querySelector('section[aria-label="Table: Sources"]')`
    const overflow = await phone.evaluate(`${table}.scrollWidth - ${table}.clientWidth`)
    assert.equal(overflow, 0)
    await phone.context().close()
  })

  test('the size of the sources is shown with the limit of the plan', async () => {
    await open('/sources')
    await owner.getByText('The plan has no limit.').waitFor()
    const other = await service.account({ plan: 'standard' })
    const { id } = (await other.request('POST', '/agents', { name: 'Shop' })).body
    const page = await pageOf(browser, service, await memberOf(service, other.accountId, 'owner'))
    await page.goto(`${service.url}/agents/${id}/sources`)
    await page.getByText('0 sources, 0 B of the 41.9 MB of text that the plan allows.').waitFor()
    await page.context().close()
  })

  test('the page of an unknown agent has no menu of an agent', async () => {
    await owner.goto(`${service.url}/agents/nobody/sources`)
    await owner.getByRole('heading', { name: 'This agent does not exist' }).waitFor()
    const nav = owner.getByRole('navigation', { name: 'Workspace' })
    await nav.getByRole('link', { name: 'All agents' }).waitFor()
    assert.equal(await nav.getByRole('link', { name: 'Sources' }).count(), 0)
    await owner.goto(service.url)
    await owner.getByRole('heading', { level: 1, name: 'Lumi' }).waitFor()
  })

  test('from the set-up link to the first cited answer', async () => {
    const accountId = await createAccount(service.ctx.db, 'New')
    const { token } = await createLink(service.ctx.db, { accountId, kind: 'set-up', createdBy: 'operator' })
    const page = await pageOf(browser, service)
    await page.goto(linkTo(service.url, 'set-up', token))
    const { write, press, use, reach, arrow } = keyboardOf(page)
    await write(page.getByLabel('Workspace'), 'Bright Lamps')
    await write(page.getByLabel('Your name'), 'Ada Okafor')
    await write(page.getByLabel('Email'), 'ada@example.com')
    await write(page.getByLabel('Password'), 'a few words in a row')
    await press('Enter')
    await page.getByRole('heading', { name: 'No agent yet' }).waitFor()
    await use(page.getByRole('main').getByRole('link', { name: 'New agent' }).first())
    await write(page.getByLabel('Name'), 'Lumi')
    await reach(page.getByRole('radio', { checked: true }))
    await arrow('ArrowDown', page.getByRole('radio', { name: /Written or pasted/ }))
    await write(page.getByRole('textbox', { name: 'Text', exact: true }), WARRANTY)
    await use(page.getByRole('button', { name: 'Create the agent' }))
    models.queue.push({ tokens: ['Five years [1].'] })
    await write(page.getByLabel('Question'), 'How long is the warranty of the Halo lamp?')
    await press('Enter')
    await use(page.getByRole('button', { name: 'Source 1' }))
    await page.getByRole('blockquote').getByText('warranty of five years').waitFor()
    await page.context().close()
  })
})
