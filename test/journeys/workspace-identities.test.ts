import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { webhookOf } from '../fakes/messaging-wire.ts'
import { findBrowser } from '../find-browser.ts'
import { keyboardOf } from '../keyboard.ts'
import { launchChromium } from '../launch-chromium.ts'
import { lookAt } from '../look-at.ts'
import { ACCOUNT, type MessagingHome, NUMBER, now, startMessagingHome } from '../messaging-home.ts'
import { until } from '../until.ts'
import { memberOf } from '../workspace.ts'
import { pageOf } from '../workspace-page.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'

describe('people on messaging whom the channel calls by several names, by keyboard alone', { skip }, () => {
  const [PHONE, USER] = ['15550102003', 'US.3001']
  let home: MessagingHome
  let browser: Browser
  let page: Page
  let keys: ReturnType<typeof keyboardOf>
  let count = 0

  before(async () => {
    home = await startMessagingHome()
    browser = await launchChromium()
    const owner = await memberOf(home.service, home.client.accountId, 'owner')
    page = await pageOf(browser, home.service, owner)
    keys = keyboardOf(page)
  })
  after(async () => {
    await browser?.close()
    await home?.close()
  })

  /** Receives a message, with the number, the id or both of its author. */
  async function receive(from: object, contact: object, part: object): Promise<void> {
    const message = { id: `wamid.${++count}`, ...from, timestamp: String(now()), ...part }
    const contacts = [{ profile: { name: 'Pat' }, ...contact }]
    const metadata = { display_phone_number: '15550001111', phone_number_id: NUMBER }
    const answer = await home.webhook(webhookOf(ACCOUNT, { metadata, contacts, messages: [message] }))
    assert.equal(answer.status, 200)
  }
  const text = (body: string) => ({ type: 'text', text: { body } })
  const byUser = { profile: { name: 'Pat', username: 'pat.w' }, user_id: USER }
  const open = (path: string) => page.goto(`${home.service.url}/agents/${home.agentId}${path}`)
  const rows = () =>
    page.getByRole('region', { name: 'Table: Contacts' }).getByRole('button', { name: 'Pat' })
  /** Contacts are made a moment after a message has arrived. */
  const known = (n: number) =>
    until(`${n} known contacts`, async () => {
      const { body } = await home.client.request('GET', `/agents/${home.agentId}/contacts`)
      return body.pagination.total === n
    })
  const shown = async (n: number) => until(`${n} contacts`, async () => (await rows().count()) === n)

  test('two contacts become one by what the channel says, and are found by each name', async () => {
    await receive({ from: PHONE }, { wa_id: PHONE }, text('By number'))
    await receive({ from_user_id: USER }, byUser, text('By id'))
    await known(2)
    await open('/contacts')
    await shown(2)
    await receive({ from: PHONE, from_user_id: USER }, { ...byUser, wa_id: PHONE }, text('It was me twice'))
    await known(1)
    await page.reload()
    await shown(1)
    for (const query of ['@pat.w', USER, `+${PHONE}`, 'nobody.here']) {
      await keys.write(page.getByRole('searchbox', { name: 'Search contacts' }), query)
      await shown(query === 'nobody.here' ? 0 : 1)
    }
    await page.getByText('Nobody matches').waitFor()
    await lookAt(page, 'contact-search')
    await keys.write(page.getByRole('searchbox', { name: 'Search contacts' }), '@pat.w')
    await shown(1)
    await keys.use(rows())
    const dialog = page.getByRole('dialog', { name: 'Pat' })
    await dialog.getByText('@pat.w').waitFor()
    await lookAt(page, 'identities')
  })

  test('a join is undone after a question, and the two stay apart', async () => {
    const dialog = page.getByRole('dialog', { name: 'Pat' })
    await keys.use(dialog.getByRole('button', { name: `Separate ${USER}` }))
    const question = page.getByRole('alertdialog', { name: `Separate ${USER}?` })
    await question.waitFor()
    await lookAt(page, 'separate')
    await keys.use(question.getByRole('button', { name: 'Separate' }))
    await page.getByText('The two are separate contacts now, and stay so.').waitFor()
    await receive({ from: PHONE, from_user_id: USER }, { ...byUser, wa_id: PHONE }, text('And once more'))
    await open('/contacts')
    await shown(2)
  })

  test('an edited and a deleted message are shown as such', async () => {
    const [original, other] = ['wamid.e1', 'wamid.e2']
    await receive({ from: PHONE, id: original }, { wa_id: PHONE }, text('Do you ship to Astria?'))
    await receive({ from: PHONE, id: other }, { wa_id: PHONE }, text('My card is 4711'))
    const { conversation_id } = await until('the message', async () =>
      home.service.ctx.db
        .selectFrom('inbound_messages')
        .innerJoin('messages', 'messages.id', 'inbound_messages.message_id')
        .select('messages.conversation_id')
        .where('inbound_messages.provider_message_id', '=', other)
        .executeTakeFirst(),
    )
    await open(`/conversations?open=${conversation_id}`)
    const messages = page.getByRole('region', { name: 'Messages' })
    await messages.getByText('My card is 4711').waitFor()
    await receive(
      { from: PHONE },
      { wa_id: PHONE },
      {
        type: 'edit',
        edit: { original_message_id: original, message: text('Do you ship to Austria?') },
      },
    )
    await receive(
      { from: PHONE },
      { wa_id: PHONE },
      {
        type: 'revoke',
        revoke: { original_message_id: other },
      },
    )
    await messages.getByText('Do you ship to Austria?').waitFor()
    await messages.getByText(/^Edited by the sender/).waitFor()
    await messages.getByText(/^Deleted by the sender/).waitFor()
    await lookAt(page, 'edited-and-deleted')
    for (const gone of ['Astria', '4711']) assert.equal(await page.getByText(gone).count(), 0)
  })

  test('what could not be read is shown to the operator and to the inbox until it is removed', async () => {
    const poll = { type: 'unsupported', unsupported: { type: 'poll' }, errors: [{ code: 131051 }] }
    await receive({ from: PHONE }, { wa_id: PHONE }, poll)
    await open('/inbox')
    await page.getByText('1 message could not be read.').waitFor()
    await lookAt(page, 'inbox-unreadable')
    await keys.use(page.getByRole('link', { name: 'What to do' }))
    const table = page.getByRole('region', { name: 'Table: Could not be read' })
    await table.getByText('poll').waitFor()
    await lookAt(page, 'unreadable')
    await keys.use(table.getByRole('link', { name: 'The conversation' }))
    await page.getByRole('region', { name: 'Messages' }).waitFor()
    await page.goBack()
    await keys.use(table.getByRole('button', { name: /^Remove/ }))
    await table.waitFor({ state: 'detached' })
    await open('/inbox')
    await page.getByRole('heading', { name: 'Choose a ticket' }).waitFor()
    assert.equal(await page.getByText('could not be read').count(), 0)
  })
})
