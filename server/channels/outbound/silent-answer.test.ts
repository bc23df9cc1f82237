import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type MailServer, startMailServer } from '../../../test/fakes/mail-server.ts'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { connectTestMailbox, mail } from '../../../test/mailbox.ts'
import { type MessagingHome, now, startMessagingHome } from '../../../test/messaging-home.ts'
import { until } from '../../../test/until.ts'
import { publicAgent, visitorOf } from '../../../test/visitor.ts'
import { readMail } from '../email/parse/read-mail.ts'

let server: MailServer
let models: ModelServer
let home: MessagingHome

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
  models.otherwise(() => ({ tokens: [] }))
})

const mayEscalate = async (agentId: string): Promise<void> => {
  const action = { name: 'escalate', type: 'escalate', description: 'Asks a person.', enabled: true }
  assert.equal((await home.client.request('POST', `/agents/${agentId}/actions`, action)).status, 201)
}
const tickets = (agentId: string) =>
  home.service.ctx.db
    .selectFrom('tickets')
    .select(['conversation_id', 'description'])
    .where('agent_id', '=', agentId)
    .execute()
const answersOf = (agentId: string) =>
  home.service.ctx.db
    .selectFrom('messages')
    .select(['parts', 'conversation_id'])
    .where('agent_id', '=', agentId)
    .where('role', '=', 'assistant')
    .execute()

test('a mail is answered with a sentence in its language where the model has no words, and one ticket is opened', async () => {
  const box = await connectTestMailbox(home.service, home.client, { smtpPort: server.port })
  await mayEscalate(box.agentId)
  for (const [count, question] of [
    [1, 'Guten Tag, wann kommt meine Bestellung an?'],
    [2, 'Haben Sie das auch in einer anderen Farbe?'],
  ] as const) {
    const [{ references = [] } = {}] = (await box.threads()).map(({ data }) => data as never)
    await box.receive(mail(question, { References: (references as string[]).join(' ') }))
    await until('the answer', async () => (await box.deliveries()).length === count)
    await box.send()
  }
  const texts = await Promise.all(
    server.mails.map(async ({ raw }) => (await readMail(Buffer.from(raw))).text),
  )
  const said = 'Darauf habe ich keine Antwort. Unser Team weiß Bescheid und meldet sich bei Ihnen.'
  assert.equal(texts.length, 2)
  for (const text of texts) assert.ok(text.includes(said), text)
  const answers = await answersOf(box.agentId)
  assert.deepEqual(
    answers.map(({ parts }) => parts),
    [[], []],
  )
  assert.deepEqual(await tickets(box.agentId), [
    { conversation_id: answers[0]?.conversation_id, description: 'The agent had no answer.' },
  ])
})

test('in messaging, an agent that may not ask people only says that it has no answer', async () => {
  await home.say('silent-1', now(), 'When does the shop open?')
  await until('the answer', async () => (await answersOf(home.agentId)).length === 1)
  await home.deliver()
  assert.equal(home.fake.sent.length, 1)
  assert.match(home.fake.sent[0]?.body.body ?? '', /I have no answer to this\.$/)
  assert.deepEqual(await tickets(home.agentId), [])
})

test('the chat shows such an answer as silent and opens one ticket; the API shows it as it is', async () => {
  const agentId = await publicAgent(home.client)
  await mayEscalate(agentId)
  const visitor = visitorOf(home.service, agentId)
  const { conversationId } = await visitor.write('Hello?')
  const settled = (count: number) =>
    until('the answer', async () => {
      const conversation = await visitor.read(conversationId)
      return !conversation.answering && conversation.messages.length === count && conversation
    })
  const { messages } = await settled(2)
  assert.deepEqual([messages[1].text, messages[1].isSilent], ['', true])
  // What a visitor sees is read in several statements, so the ticket may only be in the next reading.
  await until('the ticket', async () => (await visitor.read(conversationId)).help?.state === 'waiting')
  models.queue.push({ tokens: ['Yes.'] })
  await visitor.write('Are you there?', { conversationId })
  assert.equal((await settled(4)).messages[3].isSilent, false)
  await visitor.write('And now?', { conversationId })
  await settled(6)
  assert.equal((await tickets(agentId)).length, 1)

  const chat = await home.client.request('POST', `/agents/${agentId}/chat`, {
    message: 'Hello?',
    stream: false,
  })
  assert.deepEqual(
    [chat.status, chat.body.data.parts, chat.body.data.metadata.isSilent],
    [200, [], undefined],
  )
  assert.equal((await tickets(agentId)).length, 1)
})
