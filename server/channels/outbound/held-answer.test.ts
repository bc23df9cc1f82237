import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type MailServer, startMailServer } from '../../../test/fakes/mail-server.ts'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { connectTestMailbox, mail } from '../../../test/mailbox.ts'
import { type MessagingHome, now, startMessagingHome } from '../../../test/messaging-home.ts'
import { until } from '../../../test/until.ts'
import { createMember } from '../../accounts/records/members.ts'
import { explainCommand } from '../../admin/commands/explain-command.ts'
import { readMail } from '../email/parse/read-mail.ts'

let server: MailServer
let models: ModelServer
let home: MessagingHome
const WRONG = 'Gerne! Die Lieferung kostet 47,11 €.'
const RIGHT = 'Das weiß ich leider nicht.'

before(async () => {
  server = await startMailServer()
  models = await startModelServer()
  home = await startMessagingHome({ ...models.settings, ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
})
after(async () => {
  await home.close()
  await models.close()
  await server.close()
})
beforeEach(() => {
  models.queue.length = 0
  models.requests.length = 0
  server.mails.length = 0
  models.otherwise(() => ({ tokens: ['A title'] }))
})

async function mailbox(ungrounded: string) {
  const box = await connectTestMailbox(home.service, home.client, { smtpPort: server.port })
  const path = `/agents/${box.agentId}/guardrails`
  assert.equal((await home.client.request('PUT', path, { ungrounded })).status, 200)
  return box
}
const sentTexts = () =>
  Promise.all(server.mails.map(async ({ raw }) => (await readMail(Buffer.from(raw))).text))
const answersOf = (agentId: string) =>
  home.service.ctx.db
    .selectFrom('messages')
    .select(['id', 'parts', 'metadata', 'conversation_id'])
    .where('agent_id', '=', agentId)
    .where('role', '=', 'assistant')
    .execute()
const marksOf = (answer: { metadata: unknown } | undefined) =>
  (answer?.metadata as { ungrounded?: unknown } | undefined)?.ungrounded
const get = async (path: string) => (await home.client.request('GET', path)).body

test('a held answer is a note of a ticket, and the customer reads that the team will answer', async () => {
  const box = await mailbox('hold')
  models.queue.push({ tokens: [WRONG] })
  await box.receive(mail('Guten Tag, wann kommt meine Bestellung an, und was kostet das?'))
  await until('the answer', async () => (await box.deliveries()).length === 1)
  await box.send()
  const [text = ''] = await sentTexts()
  assert.match(text, /Unser Team weiß Bescheid und meldet sich bei Ihnen\./)
  assert.doesNotMatch(text, /47,11/)
  const [answer] = await answersOf(box.agentId)
  assert.ok(answer)
  const { isHeld, ungrounded, outcome } = answer.metadata as Record<string, unknown>
  assert.deepEqual([isHeld, ungrounded, outcome], [true, undefined, null])
  assert.doesNotMatch(JSON.stringify(answer), /47,11/)
  const { data: tickets } = await get(`/agents/${box.agentId}/helpdesk/tickets`)
  assert.equal(tickets.length, 1)
  const notes = `/agents/${box.agentId}/helpdesk/tickets/${tickets[0].ticketNumber}/messages?types=note`
  const { data } = await get(notes)
  assert.deepEqual(
    data.map((note: { contentText: string; metadata: object }) => [note.contentText, note.metadata]),
    [[WRONG, { held: { messageId: answer.id, ungrounded: [{ kind: 'number', text: '47,11' }] } }]],
  )
  const titles = () => models.requests.filter(({ body }) => JSON.stringify(body).includes('Write a title'))
  await until('the title', () => titles().length > 0)
  assert.doesNotMatch(JSON.stringify(titles()), /47,11/)
  // The next question is answered as usual; what the model reads of the talk holds nothing that was never sent.
  models.queue.push({ tokens: [RIGHT] })
  const [{ references = [] } = {}] = (await box.threads()).map((thread) => thread.data as never)
  await box.receive(mail('Und nach Graz?', { References: (references as string[]).join(' ') }))
  await until('the second answer', async () => (await box.deliveries()).length === 2)
  assert.doesNotMatch(JSON.stringify(models.requests.at(-1)), /47,11/)
})

test('a held answer reaches the customer once, whoever sends it, at once or in some seconds', async () => {
  const { client, service } = home
  const box = await mailbox('hold')
  const authors = ['Ann Berg', 'Bo Dahl'].map((name) => ({ name, email: `${name[0]}@twice.example` }))
  for (const { name, email } of authors) {
    const member = { name, email, role: 'owner' }
    await createMember(service.ctx.db, { id: client.accountId, plan: 'unlimited' } as never, member as never)
  }
  const emails = authors.map(({ email }) => email)
  models.queue.push({ tokens: [WRONG] })
  await box.receive(mail('Guten Tag, was kostet das?', { From: 'twice@example.com' }))
  const answer = await until('the answer', async () => (await answersOf(box.agentId))[0])
  const desk = `/agents/${box.agentId}/helpdesk`
  const { data: tickets } = await get(`${desk}/tickets`)
  const ticket = `${desk}/tickets/${tickets[0].ticketNumber}`
  const [note] = (await get(`${ticket}/messages?types=note`)).data
  const takeover = `/agents/${box.agentId}/conversations/${answer.conversation_id}/takeover`
  assert.equal((await client.request('POST', takeover, { memberEmail: emails[0] })).status, 200)
  const reply = (path: string, authorEmail: string | undefined, more: object) =>
    client.request('POST', `${ticket}/${path}`, {
      content: WRONG,
      heldAnswerId: note.id,
      authorEmail,
      ...more,
    })
  const hold = (holdSeconds: number) => reply('held-replies', emails[0], { holdSeconds })
  const held = await hold(2)
  assert.equal(held.status, 201, JSON.stringify(held.body))
  const sent = await Promise.all(emails.map((email) => reply('messages', email, { type: 'reply' })))
  assert.deepEqual(sent.map(({ status }) => status).sort(), [201, 404])
  const refused = sent.find(({ status }) => status === 404)?.body.error.message
  assert.match(refused, /(Ann Berg|Bo Dahl) has sent it/)
  const { error } = await until('the end of the wait', async () =>
    (await get(`${ticket}/held-replies`)).find((one: { error: string | null }) => one.error !== null),
  )
  assert.match(error, /(Ann Berg|Bo Dahl) has sent it/)
  const late = await hold(1)
  assert.deepEqual([late.status, late.body.error.code], [404, 'RESOURCE_NOT_FOUND'])
  await box.send()
  assert.equal((await sentTexts()).filter((text) => text.includes('47,11')).length, 1)
})

test('what becomes of a held answer is recorded with it: by whom, when, and whether it was changed', async () => {
  const { client, service } = home
  const box = await mailbox('hold')
  const member = { name: 'Ann Berg', email: 'ann@held.example', role: 'owner' }
  await createMember(service.ctx.db, { id: client.accountId, plan: 'unlimited' } as never, member as never)
  const author = { authorEmail: member.email }
  const desk = `/agents/${box.agentId}/helpdesk`
  const seen = new Set<string>()
  for (const [at, what] of (['sent', 'changed', 'discarded'] as const).entries()) {
    models.queue.push({ tokens: [WRONG] })
    const question = 'Guten Tag, wann kommt meine Bestellung an, und was kostet das?'
    await box.receive(mail(question, { From: `k${at}@example.com` }))
    // The member's own replies are answers of the conversation, too.
    const answer = await until('the answer', async () =>
      (await answersOf(box.agentId)).find(
        ({ id, metadata }) => (metadata as { isHeld?: true }).isHeld && !seen.has(id),
      ),
    )
    seen.add(answer.id)
    const { data: tickets } = await get(`${desk}/tickets?sortBy=createdAt`)
    const ticket = `${desk}/tickets/${tickets[0].ticketNumber}`
    const noteOf = async () => (await get(`${ticket}/messages?types=note`)).data[0]
    const note = await noteOf()
    assert.equal(note.metadata.held.outcome, undefined)
    const conversation = `/agents/${box.agentId}/conversations/${answer.conversation_id}`
    const explained = async () => (await get(`${conversation}/messages/${answer.id}/explanation`)).data
    assert.deepEqual([(await explained()).held, (await explained()).heldOutcome], [true, undefined])
    const discard = (id: string) => client.request('POST', `${ticket}/messages/${id}/discard`, author)
    const reply = (content: string, heldAnswerId: string) =>
      client.request('POST', `${ticket}/messages`, { type: 'reply', content, heldAnswerId, ...author })
    if (what === 'discarded') {
      assert.equal((await discard(answer.id)).status, 404, 'the id is that of the note')
      assert.equal((await discard(note.id)).body.metadata.held.outcome.what, 'discarded')
    } else {
      const taken = await client.request('POST', `${conversation}/takeover`, { memberEmail: member.email })
      assert.equal(taken.status, 200)
      assert.equal((await reply('x', answer.id)).status, 404)
      const sent = await reply(what === 'sent' ? WRONG : `${WRONG} Plus Zoll.`, note.id)
      assert.equal(sent.status, 201, JSON.stringify(sent.body))
      assert.equal((await discard(note.id)).status, 404, 'what was sent stays sent')
    }
    const { outcome } = (await noteOf()).metadata.held
    assert.deepEqual([outcome.what, outcome.by.name], [what, member.name])
    assert.ok(Math.abs(Date.parse(outcome.at) - Date.now()) < 60_000)
    assert.deepEqual((await explained()).heldOutcome, outcome)
    const path = `/agents/${box.agentId}/conversations/export?conversationId=${answer.conversation_id}`
    const isIt = ({ id }: { id: string }): boolean => id === answer.id
    assert.deepEqual((await get(path)).data[0].messages.find(isIt).metadata.heldOutcome, outcome)
    const input = { values: {}, positionals: [answer.id] }
    const told = await explainCommand.run({ db: service.ctx.db } as never, input)
    assert.match(String(told.lines), /Held for a person: .* by Ann Berg, 20/)
  }
  await box.send()
})

test('an answer that an application asks for again is held as well, since it goes to the customer', async () => {
  const box = await mailbox('hold')
  models.queue.push({ tokens: [RIGHT] })
  await box.receive(mail('Guten Tag, wann kommt meine Bestellung an, und was kostet das?'))
  await until('the answer', async () => (await box.deliveries()).length === 1)
  const [first] = await answersOf(box.agentId)
  models.queue.push({ tokens: [WRONG] })
  const path = `/agents/${box.agentId}/conversations/${first?.conversation_id}/retry`
  const { status, body } = await home.client.request('POST', path, { messageId: first?.id, stream: false })
  assert.equal(status, 200, JSON.stringify(body))
  await until('the second answer', async () => (await box.deliveries()).length === 2)
  await box.send()
  assert.doesNotMatch((await sentTexts()).join(), /47,11/)
  assert.equal((await get(`/agents/${box.agentId}/helpdesk/tickets`)).data.length, 1)
})

test('an answer is asked for once more with the list of its values, and the better one is sent', async () => {
  const box = await mailbox('ask_again')
  models.queue.push({ tokens: [WRONG] }, { tokens: [RIGHT] })
  await box.receive(mail('Guten Tag, wann kommt meine Bestellung an, und was kostet das?'))
  await until('the answer', async () => (await box.deliveries()).length === 1)
  await box.send()
  const [text = ''] = await sentTexts()
  assert.ok(text.includes(RIGHT) && !text.includes('47'), text)
  const [answer] = await answersOf(box.agentId)
  assert.deepEqual(answer?.parts, [{ type: 'text', text: RIGHT }])
  assert.equal(marksOf(answer), undefined)
  assert.match(JSON.stringify(models.requests), /stand in nothing that you were given: .{1,4}47,11/)
})

for (const [what, second] of [
  ['is no better', { tokens: ['Die Lieferung kostet 48,22 €.'] }],
  ['is empty', { tokens: [] }],
  ['fails', { status: 400 }],
] as const)
  test(`the first answer is sent and marked when the second ${what}`, async () => {
    const box = await mailbox('ask_again')
    models.queue.push({ tokens: [WRONG] }, second as never)
    await box.receive(mail('Guten Tag, wann kommt meine Bestellung an, und was kostet das?'))
    await until('the answer', async () => (await box.deliveries()).length === 1)
    await box.send()
    assert.ok((await sentTexts())[0]?.includes(WRONG))
    const [answer] = await answersOf(box.agentId)
    assert.deepEqual(marksOf(answer), [{ kind: 'number', text: '47,11' }])
  })

test('messaging holds as mail does, and the API is only marked', async () => {
  const path = `/agents/${home.agentId}/guardrails`
  assert.equal((await home.client.request('PUT', path, { ungrounded: 'hold' })).status, 200)
  models.queue.push({ tokens: ['It costs 47 euros.'] })
  await home.say('held-1', now(), 'What does the delivery cost, please?')
  await until('the answer', async () => (await answersOf(home.agentId)).length === 1)
  await home.deliver()
  assert.match(home.fake.sent[0]?.body.body ?? '', /Our team has been told and will get back to you\.$/)
  models.queue.push({ tokens: ['It costs 47 euros.'] })
  const { body } = await home.client.request('POST', `/agents/${home.agentId}/chat`, {
    message: 'What does it cost?',
    stream: false,
  })
  assert.deepEqual(body.data.parts, [{ type: 'text', text: 'It costs 47 euros.' }])
  assert.deepEqual(body.data.metadata.ungrounded, [{ kind: 'number', text: '47' }])
})
