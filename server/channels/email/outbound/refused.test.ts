import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { startBesideMailServer } from '../../../../test/beside-mail-server.ts'
import { ADDRESS, connectTestMailbox, mail, type TestMailbox, VERIFIED } from '../../../../test/mailbox.ts'
import type { Client } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'
import { conversationLines } from '../../../conversations/exports/conversation-lines.ts'

const { server, models, service, close } = await startBesideMailServer()
let client: Client
let box: TestMailbox

after(close)
beforeEach(async () => {
  client = await service.account()
  box = await connectTestMailbox(service, client, { smtpPort: server.port })
  server.mails.length = 0
  server.troubles.length = 0
  models.otherwise(() => ({ tokens: ['Two years.'] }))
})

const NOT_OWNED = { code: 553, text: '5.7.1 Sender address rejected: not owned by user' } as const
const REASON = '127.0.0.1 answered: 553 5.7.1 Sender address rejected: not owned by user'

/** Writes a mail that the agent answers, and attempts to send the answer. */
async function answerOne(more: Record<string, string> = {}): Promise<void> {
  const before = (await box.deliveries()).length
  await box.receive(mail('How long is the warranty?', more))
  await until('the answer', async () => (await box.deliveries()).length === before + 1)
  await box.send()
}

const connection = async () => (await client.request('GET', `/agents/${box.agentId}/email/connection`)).body

async function answers(): Promise<Record<string, unknown>[]> {
  const { body } = await client.request('GET', `/agents/${box.agentId}/conversations/export`)
  const { data } = body as { data: { messages: { role: string; metadata: Record<string, unknown> }[] }[] }
  return data.flatMap(({ messages }) =>
    messages.filter(({ role }) => role === 'assistant').map(({ metadata }) => metadata),
  )
}

test('an answer that the mail server refuses is shown as not delivered wherever it is read', async () => {
  server.troubles.push(NOT_OWNED)
  await answerOne()
  assert.deepEqual(
    (await answers()).map(({ delivery }) => delivery),
    [{ status: 'failed', error: REASON }],
  )
  let csv = ''
  const ref = { accountId: client.accountId, agentId: box.agentId }
  const written = { conversations: 0, messages: 0 }
  for await (const piece of conversationLines(service.ctx.db, ref, 'csv', written)) csv += piece
  assert.match(csv, /^\uFEFF[\s\S]*Two years\.,,127\.0\.0\.1 answered: 553 .* not owned by user/)
})

test('an answer that was sent has no such note, and one that reached only some names the others', async () => {
  await answerOne({ 'Message-ID': '<first@example.com>', Cc: 'bob@example.com', ...VERIFIED })
  // Both get every answer.
  server.troubles.push({ code: 550, text: '5.1.1 unknown' })
  await answerOne({ From: 'bob@example.com', 'In-Reply-To': '<first@example.com>' })
  assert.deepEqual(
    server.mails.map(({ to }) => to),
    [['ann@example.com', 'bob@example.com'], ['bob@example.com']],
  )
  const error = 'Not to ann@example.com: 127.0.0.1 answered: 550 5.1.1 unknown'
  assert.deepEqual(
    (await answers()).map(({ delivery }) => delivery),
    [undefined, { status: 'sent', error }],
  )
})

test('a sender that the server refuses makes the connection fail at once, and several refused mails do', async () => {
  server.troubles.push({ ...NOT_OWNED, at: 'MAIL FROM' })
  await answerOne()
  assert.deepEqual([(await connection()).smtp.lastError, (await connection()).status], [REASON, 'failing'])
  await answerOne({ From: 'bob@example.com' })
  assert.equal((await connection()).smtp.lastError, null)
  const unknown = { code: 550, text: '5.1.1 unknown' }
  for (const name of ['c', 'd', 'e']) {
    assert.equal((await connection()).smtp.lastError, null)
    server.troubles.push(unknown)
    await answerOne({ From: `${name}@example.com` })
  }
  assert.equal(
    (await connection()).smtp.lastError,
    'The last 3 mails were refused. 127.0.0.1 answered: 550 5.1.1 unknown',
  )
  await answerOne({ From: 'f@example.com' })
  assert.equal((await connection()).smtp.lastError, null)
  server.troubles.push(unknown)
  await answerOne({ From: 'g@example.com' })
  assert.equal((await connection()).smtp.lastError, null)
})

test('the test of a connection finds a sender that the server refuses, and sends nothing', async () => {
  const run = async () =>
    (await client.request('POST', `/agents/${box.agentId}/email/connection/test`)).body.smtp
  assert.deepEqual(await run(), { ok: true, error: null })
  for (const at of ['MAIL FROM', 'RCPT TO'] as const) {
    server.troubles.push({ ...NOT_OWNED, at })
    assert.deepEqual(await run(), { ok: false, error: REASON })
  }
  // The server asks unknown clients to come back later.
  server.troubles.push({ code: 451, text: '4.7.1 Greylisted' })
  assert.deepEqual(await run(), { ok: true, error: null })
  assert.deepEqual([server.mails.length, (await connection()).address], [0, ADDRESS])
})
