import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
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
  models.otherwise(() => ({ tokens: ['Yes.'] }))
  home = await startMessagingHome({ ...models.settings, ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
})
after(async () => {
  await home.close()
  await models.close()
  await server.close()
})

const change = async (agentId: string, aiNotice: object | null): Promise<void> => {
  assert.equal((await home.client.request('PUT', `/agents/${agentId}`, { aiNotice })).status, 200)
}

test('the first answer of a mail thread says in its language that an AI system answers; the model does not read it', async () => {
  const box = await connectTestMailbox(home.service, home.client, { smtpPort: server.port })
  await change(box.agentId, null)
  for (const [count, question] of [
    [1, 'Guten Tag, wann kommt meine Bestellung an?'],
    [2, 'Haben Sie das auch in einer anderen Farbe?'],
  ] as const) {
    const [thread] = await box.threads()
    const references = ((thread?.data as { references?: string[] } | undefined)?.references ?? []).join(' ')
    await box.receive(mail(question, { References: references }))
    await until('the answer', async () => (await box.deliveries()).length === count)
    await box.send()
  }
  const notice = 'Ihre Nachrichten werden von einem KI-System beantwortet.'
  const texts = await Promise.all(
    server.mails.map(async ({ raw }) => (await readMail(Buffer.from(raw))).text),
  )
  assert.deepEqual(texts, [`${notice}\n\nYes.`, 'Yes.'])
  assert.ok(server.mails[0]?.raw.replaceAll('=\r\n', '').includes(`<p>${notice}</p>`))
  assert.deepEqual(
    (await box.said()).filter((line) => line.startsWith('assistant')),
    ['assistant: Yes.', 'assistant: Yes.'],
  )
  assert.doesNotMatch(JSON.stringify(models.requests.map(({ body }) => body)), /KI-System/)
})

test('in messaging, the owner decides on words and place, and may switch it off', async () => {
  const ask = async (from: string): Promise<string> => {
    home.fake.sent.length = 0
    await home.say(`asks-${from}`, now(), 'When does the shop open?', from)
    await until('the answer', async () => {
      await home.deliver()
      return home.fake.sent.length === 1
    })
    return home.fake.sent[0]?.body.body ?? ''
  }
  await change(home.agentId, {
    enabled: true,
    text: 'A machine writes: see https://law.example/ai',
    place: 'after',
  })
  assert.equal(await ask('15550109001'), 'Yes.\n\nA machine writes: see https://law.example/ai')
  await change(home.agentId, { text: null, place: 'before' })
  assert.equal(await ask('15550109002'), 'Your messages are answered by an AI system.\n\nYes.')
  await change(home.agentId, { enabled: false })
  assert.equal(await ask('15550109003'), 'Yes.')
})

test('the chat is told whether to show the notice, and answers of the API have none', async () => {
  const agentId = await publicAgent(home.client)
  const told = async () => (await visitorOf(home.service, agentId).request('GET', '')).body.aiNotice
  assert.deepEqual(await told(), { text: null })
  await change(agentId, { text: 'A machine writes.' })
  assert.deepEqual(await told(), { text: 'A machine writes.' })
  const chat = await home.client.request('POST', `/agents/${agentId}/chat`, {
    message: 'Hello?',
    stream: false,
  })
  assert.deepEqual(chat.body.data.parts, [{ type: 'text', text: 'Yes.' }])
  await change(agentId, { enabled: false })
  assert.equal(await told(), null)
  assert.deepEqual((await home.client.request('GET', `/agents/${agentId}`)).body.aiNotice, {
    enabled: false,
    text: 'A machine writes.',
    place: 'before',
  })
})
