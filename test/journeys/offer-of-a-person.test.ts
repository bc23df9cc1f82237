import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { CUSTOMER_SENTENCES } from '../../server/platform/text/languages/customer-sentences.ts'
import { startMailServer } from '../fakes/mail-server.ts'
import { messageWebhook } from '../fakes/messaging-wire.ts'
import { findBrowser } from '../find-browser.ts'
import { connectTestMailbox, mail } from '../mailbox.ts'
import { ACCOUNT, NUMBER, now, PAT, startMessagingHome } from '../messaging-home.ts'
import { type Client, type Service, startService } from '../start.ts'
import { trained, until } from '../until.ts'
import { answered, idle, openChat, openWidgetHome, say, shown, type Visit, visit } from '../widget-home.ts'

const { en, de } = CUSTOMER_SENTENCES
const offered = `${en.notFound} ${en.offer}`
const QUESTION = 'Who repairs bicycles in Lisbon?'

/** Gives an agent of the built-in responder a document and the action that asks a person. */
async function prepare(service: Service, client: Client, agentId: string): Promise<void> {
  const changed = await client.request('PUT', `/agents/${agentId}`, { model: 'builtin' })
  assert.equal(changed.status, 200)
  const source = {
    type: 'text',
    name: 'Lamps',
    content: 'The desk lamp costs 40 euros and is delivered within a week.',
  }
  const added = await client.request('POST', `/agents/${agentId}/sources`, source)
  assert.equal(added.status, 201, JSON.stringify(added.body))
  await trained(service, added.body.id)
  const action = { name: 'ask_team', type: 'escalate', description: 'Asks a person.', enabled: true }
  assert.equal((await client.request('POST', `/agents/${agentId}/actions`, action)).status, 201)
}

const ticketsOf = ({ ctx }: Service, agentId: string) =>
  ctx.db.selectFrom('tickets').selectAll().where('agent_id', '=', agentId).orderBy('number').execute()

const messagesOf = async ({ ctx }: Service, agentId: string) => {
  const rows = await ctx.db
    .selectFrom('messages')
    .selectAll()
    .where('agent_id', '=', agentId)
    .orderBy('conversation_id')
    .orderBy('seq')
    .execute()
  return rows.map(({ id, role, parts, metadata }) => ({
    id,
    role,
    text: parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(''),
    metadata: metadata as { offer?: string; accepts?: string; outcome?: string } | null,
  }))
}

const closeTickets = ({ ctx }: Service, agentId: string) =>
  ctx.db.updateTable('tickets').set({ status_category: 'closed' }).where('agent_id', '=', agentId).execute()

test('the widget shows a button, which asks a person once, whatever happens to the press', {
  skip: findBrowser() ? false : 'No Chromium was found: install it, or set CHROMIUM_PATH.',
}, async (t) => {
  const home = await openWidgetHome()
  t.after(() => home.close())
  const { service, client } = home
  const agentId = await home.agent()
  await prepare(service, client, agentId)
  const button = ({ chat }: Visit) => chat.getByRole('log').getByRole('button', { name: en.person })
  const visitor = await visit(home)
  await openChat(visitor)
  await say(visitor, QUESTION)
  await answered(visitor, en.offer)
  await idle(visitor)
  await button(visitor).waitFor()
  await look(visitor.page, 'light')
  await visitor.page.reload()
  await button(visitor).waitFor()

  // A second tab still shows the button when the first has pressed it.
  const second: Visit = { ...visitor, page: await visitor.context.newPage() }
  await second.page.goto(home.site.url)
  second.chat = second.page.frameLocator('iframe')
  await openChat(second)
  await button(second).waitFor()

  await visitor.context.setOffline(true)
  await button(visitor).focus()
  await visitor.page.keyboard.press('Enter')
  assert.equal(await visitor.chat.locator(':focus').getAttribute('role'), 'log')
  await visitor.chat.getByText(en.person).first().waitFor()
  assert.equal(await button(visitor).count(), 0)
  assert.equal((await ticketsOf(service, agentId)).length, 0)
  await visitor.context.setOffline(false)
  await answered(visitor, en.passedOn)
  await idle(visitor)
  assert.deepEqual(await shown(visitor), [QUESTION, offered, en.person, en.passedOn])
  assert.equal(await button(visitor).count(), 0)
  const [ticket, ...more] = await ticketsOf(service, agentId)
  assert.deepEqual([ticket?.subject, more.length], [QUESTION, 0])

  // Late and repeated presses change nothing, even after the ticket has been closed.
  await closeTickets(service, agentId)
  const answer = (await messagesOf(service, agentId)).find(({ metadata }) => metadata?.offer)
  const { conversation_id: conversationId } = ticket ?? {}
  const frame = second.page.frames().find((one) => one.url().includes('/widget'))
  assert.ok(frame)
  const statuses = await frame.evaluate(
    async ([agent, body]) => {
      const { secret } = JSON.parse(localStorage.getItem(`parley:${agent}`) ?? '{}')
      const press = () =>
        fetch(`/api/widget/agents/${agent}/messages`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
          body: JSON.stringify({ ...(body as object), messageId: crypto.randomUUID() }),
        })
      const answers = await Promise.all([press(), press()])
      return answers.map(({ status }) => status)
    },
    [agentId, { message: en.person, conversationId, accepts: answer?.id }] as const,
  )
  assert.deepEqual(statuses, [201, 201])
  assert.equal((await messagesOf(service, agentId)).length, 4)
  assert.equal((await ticketsOf(service, agentId)).length, 1)
  await visitor.context.close()

  const phone = await visit(home, {
    viewport: { width: 375, height: 720 },
    colorScheme: 'dark',
    locale: 'en',
  })
  await client.request('PUT', `/agents/${agentId}/styles`, { styles: { chat: { theme: 'dark' } } })
  await openChat(phone)
  await say(phone, QUESTION)
  await answered(phone, en.offer)
  await button(phone).waitFor()
  await look(phone.page, 'dark')
  await button(phone).dblclick()
  await answered(phone, en.passedOn)
  await idle(phone)
  assert.deepEqual(await shown(phone), [QUESTION, offered, en.person, en.passedOn])
  assert.equal((await ticketsOf(service, agentId)).length, 2)
  await phone.context.close()
})

/** Keeps a picture where a person wants to look at one. */
async function look(page: Page, name: string): Promise<void> {
  const folder = process.env.PARLEY_PICTURES
  if (folder) await page.screenshot({ path: `${folder}/offer-${name}.png` })
}

test('messaging shows a reply button, and its press asks a person once', async (t) => {
  const home = await startMessagingHome()
  t.after(() => home.close())
  const { service, client, agentId, fake } = home
  await prepare(service, client, agentId)
  const sent = async (count: number) => {
    await until(`${count} deliveries`, async () => {
      await home.deliver()
      return fake.sent.length >= count
    })
    assert.equal(fake.sent.length, count)
    return fake.sent.at(-1)
  }
  await home.say('q-1', now(), 'Wer repariert Fahrräder in der Stadt Lissabon?')
  const offer = await sent(1)
  const [answer] = (await messagesOf(service, agentId)).filter(({ role }) => role === 'assistant')
  assert.equal(answer?.metadata?.offer, 'person')
  const reply = { id: `person.${answer?.id}`, title: de.person }
  assert.deepEqual(
    [offer?.type, offer?.body],
    [
      'interactive',
      {
        type: 'button',
        body: { text: `${de.notFound} ${de.offer}` },
        action: { buttons: [{ type: 'reply', reply }] },
      },
    ],
  )
  const press = (id: string, button_reply: object = reply) =>
    home.webhook(
      messageWebhook({ account: ACCOUNT, number: NUMBER, from: PAT }, id, now(), {
        type: 'interactive',
        interactive: { type: 'button_reply', button_reply },
      }),
    )
  // The provider delivers the webhook three times, and the customer presses twice.
  for (const id of ['press-1', 'press-1', 'press-2', 'press-1']) assert.equal((await press(id)).status, 200)
  assert.equal((await sent(2))?.body.body, de.passedOn)
  const tickets = await ticketsOf(service, agentId)
  assert.deepEqual(
    tickets.map(({ subject }) => subject),
    ['Wer repariert Fahrräder in der Stadt Lissabon?'],
  )
  await closeTickets(service, agentId)
  await press('press-3')
  await until('the last press', async () => {
    const { taken_in_at } = await service.ctx.db
      .selectFrom('inbound_messages')
      .select('taken_in_at')
      .where('provider_message_id', '=', 'press-3')
      .executeTakeFirstOrThrow()
    return taken_in_at !== null
  })
  assert.equal((await messagesOf(service, agentId)).length, 4)
  assert.equal((await ticketsOf(service, agentId)).length, 1)
  // What is typed instead, or comes from a button of somebody else, is an ordinary message.
  await press('press-4', { id: 'person.somebody', title: 'Fahrräder' })
  await sent(3)
  const said = await messagesOf(service, agentId)
  assert.deepEqual([said.at(-2)?.text, said.at(-2)?.metadata], ['Fahrräder', null])
  assert.equal((await ticketsOf(service, agentId)).length, 1)
})

test('on mail, what is not found opens a ticket at once, and the answer says so', async (t) => {
  const server = await startMailServer()
  const service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
  t.after(async () => {
    await service.close()
    await server.close()
  })
  const client = await service.account()
  const box = await connectTestMailbox(service, client, { smtpPort: server.port })
  await prepare(service, client, box.agentId)
  const automatic = mail(QUESTION, { From: 'robot@example.com', 'Auto-Submitted': 'auto-generated' })
  await box.receive(automatic)
  const question = mail(QUESTION, { Subject: 'Bicycles' })
  for (let i = 0; i < 3; i++) await box.receive(question)
  await until('the answer', async () => (await box.deliveries()).length > 0)
  const [answer, ...others] = await box.deliveries()
  assert.deepEqual([answer?.content.text, others.length], [`${en.notFound} ${en.teamTold}`, 0])
  const tickets = await ticketsOf(service, box.agentId)
  assert.deepEqual([tickets[0]?.subject, tickets.length], [`Bicycles ${QUESTION}`, 1])
  const said = await messagesOf(service, box.agentId)
  assert.deepEqual(
    said
      .filter(({ role }) => role === 'assistant')
      .map(({ metadata }) => [metadata?.outcome, metadata?.offer]),
    [['not_found', undefined]],
  )
  await box.receive(mail('What does the desk lamp cost?', { From: 'Bea <bea@example.com>' }))
  await until('the second answer', async () => (await box.deliveries()).length > 1)
  assert.match((await box.deliveries())[1]?.content.text ?? '', /40 euros/)
  assert.equal((await ticketsOf(service, box.agentId)).length, 1)
})
