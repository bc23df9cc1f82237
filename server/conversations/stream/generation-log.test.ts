import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { NEVER } from '../../../test/fakes/reply.ts'
import { readStream } from '../../../test/read-stream.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { until } from '../../../test/until.ts'
import { newId } from '../../platform/db/ids.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { reconcile } from '../records/reconcile-credits.ts'
import { appendToLog, partsOf, readLog } from './generation-log.ts'

/** Answers whose process has died, or was declared dead. */
let models: ModelServer
let service: Service
let client: Client
let agentId: string

before(async () => {
  models = await startModelServer()
  service = await startService(models.settings)
})
after(async () => {
  await service.ctx.generations.idle()
  assert.deepEqual(await reconcile(service.ctx.db), { balanced: true, difference: 0 })
  await service.close()
  await models.close()
})
beforeEach(async () => {
  models.queue.length = 0
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
})

const stream = (body: object, headers = {}) =>
  client.raw('POST', `/agents/${agentId}/chat`, {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  })

const running = () =>
  service.ctx.db
    .selectFrom('generations')
    .select(['id', 'conversation_id', 'user_message_id', 'message_id', 'owner', 'epoch'])
    .where('agent_id', '=', agentId)
    .where('status', '=', 'running')
    .executeTakeFirstOrThrow()

/** Simulates a dead process: the owner that the row names sends no beats. */
async function orphan(id: string): Promise<void> {
  await service.ctx.db.updateTable('generations').set({ owner: newId() }).where('id', '=', id).execute()
}

const messagesOf = async (conversationId: string) =>
  (await client.request('GET', `/agents/${agentId}/conversations/${conversationId}/messages`)).body.data

test('what a reader has seen is soon in the log, and survives the process', async () => {
  models.queue.push({ tokens: ['One', ' two', ' three', ' four'], stallAfter: 3 })
  const response = await stream({ message: 'Count' })
  const { id, conversation_id } = await running()
  await until('the words in the log', async () => {
    const { events } = await readLog(service.ctx.db, client.accountId, id, 0)
    return partsOf(events).some((part) => part.type === 'text' && part.text === 'One two three')
  })
  await orphan(id)
  assert.equal(await service.ctx.orphans.closeAll(), 1)
  const [, answer] = await messagesOf(conversation_id)
  assert.deepEqual(answer.parts, [{ type: 'text', text: 'One two three' }])
  assert.equal(answer.metadata.finishReason, 'error')
  // The process that ran it notices when it writes, and sends nothing more.
  service.ctx.generations.get(id)?.abort('stop')
  assert.doesNotMatch(await response.text(), /\[DONE\]|"type":"finish"/)
})

test('while the log cannot be written, readers go on, and it gets everything once it can', async () => {
  const { db } = service.ctx
  const blocked = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  models.queue.push({
    tokens: ['One', ' two', ' three'],
    stallAfter: 3,
    beforeToken: async (index) => void (index === 1 && (await locked.promise)),
  })
  const response = await stream({ message: 'Count' })
  const { id } = await running()
  const logged = async () => {
    const [text] = partsOf((await readLog(db, client.accountId, id, 0)).events)
    return text?.type === 'text' ? text.text : ''
  }
  await until('the first word in the log', async () => (await logged()) === 'One')
  const block = transact(db, async (trx) => {
    await sql`lock table generation_log in exclusive mode`.execute(trx)
    locked.resolve()
    await blocked.promise
  })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let shown = ''
  while (!shown.includes(' three')) shown += (await reader.read()).value
  blocked.resolve()
  await block
  await until('all words in the log', async () => (await logged()) === 'One two three')
  service.ctx.generations.get(id)?.abort('stop')
  await reader.cancel()
})

test('a reader that stops uses no memory, and gets everything when it resumes', async () => {
  // This character takes six in an event, so that the events exceed what is held in memory.
  const tokens = Array.from({ length: 19_000 }, () => '\u0001')
  models.queue.push({ tokens })
  const asked = request(`${service.url}/api/v2/agents/${agentId}/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${client.key}`, 'content-type': 'application/json' },
  })
  asked.end(JSON.stringify({ message: 'Everything' }))
  const [stopped] = (await once(asked, 'response')) as [IncomingMessage]
  const { id } = await running()
  const live = service.ctx.generations.get(id)
  await live?.ending
  assert.ok(live)
  assert.equal(live.held(0), null)
  const words: string[] = []
  let text = ''
  for await (const piece of stopped) text += piece
  for (const [, data = ''] of text.matchAll(/^data: (\{"type":"text-delta".*)$/gm))
    words.push(JSON.parse(data).delta)
  assert.equal(words.join(''), tokens.join(''))
  const ids = [...text.matchAll(/^id: (\d+)$/gm)].map(([, number]) => Number(number))
  assert.ok(ids.every((number, i) => i === 0 || number === (ids[i - 1] ?? 0) + 1))
  assert.match(text, /\[DONE\]\n\n$/)
})

test('a generation of a live process is not closed, and a second closer finds nothing', async () => {
  models.queue.push({ tokens: ['One', ' two'], stallAfter: 1 })
  const response = await stream({ message: 'Wait' })
  await response.body!.getReader().read()
  assert.equal(await service.ctx.orphans.closeAll(), 0)
  const { id } = await running()
  await orphan(id)
  const closed = await Promise.all([service.ctx.orphans.closeAll(), service.ctx.orphans.closeAll()])
  assert.deepEqual(closed.sort(), [0, 1])
  service.ctx.generations.get(id)?.abort('stop')
})

test('a process that was declared dead can no longer write to the log or to the answer', async () => {
  models.queue.push({ tokens: ['One', ' two'], stallAfter: 1 })
  const response = await stream({ message: 'Wait' })
  await response.body!.getReader().read()
  const { id, conversation_id, epoch } = await running()
  await orphan(id)
  const piece = { generationId: id, position: 99, events: [], ending: null }
  assert.deepEqual(await appendToLog(service.ctx.db, { id: service.ctx.process.id, epoch }, [piece]), [id])
  await service.ctx.orphans.closeAll()
  const before = await messagesOf(conversation_id)
  service.ctx.generations.get(id)?.abort('stop')
  await service.ctx.generations.idle()
  assert.deepEqual(await messagesOf(conversation_id), before)
})

test('a piece of the log whose commit was not acknowledged is written again, and its answer is completed', async () => {
  const { db, process, generations } = service.ctx
  const goOn = Promise.withResolvers<void>()
  models.queue.push({
    tokens: ['One', ' two', ' three', ' four'],
    beforeToken: async (index) => {
      if (index === 2) await goOn.promise
    },
  })
  const response = await stream({ message: 'Count' })
  const { id, conversation_id, epoch } = await running()
  const live = await until('the second word in the log', async () => {
    const found = generations.get(id)
    return found && found.count > 3 && found.unsaved.length === 0 ? found : null
  })
  // An attempt of which the process has not heard has written the next word already.
  const next = { type: 'text-delta' as const, id: 'text-1', delta: ' three' }
  const piece = { generationId: id, position: live.count, events: [next], ending: null }
  const longer = { ...piece, events: [next, { ...next, delta: ' four' }] }
  assert.deepEqual(await appendToLog(db, { id: process.id, epoch }, [piece]), [])
  assert.deepEqual(await appendToLog(db, { id: process.id, epoch }, [longer]), [])
  // The first attempt may also be executed after the later one, and must not shorten the log.
  assert.deepEqual(await appendToLog(db, { id: process.id, epoch }, [piece]), [])
  const { events } = await readLog(db, client.accountId, id, 0)
  assert.deepEqual(partsOf(events), [{ type: 'text', text: 'One two three four' }])
  goOn.resolve()
  assert.equal((await readStream(response)).text, 'One two three four')
  const [, answer] = await messagesOf(conversation_id)
  assert.deepEqual(answer.parts, [{ type: 'text', text: 'One two three four' }])
  assert.equal(answer.metadata.finishReason, 'stop')
})

test('a question whose process died before the first word is answered under its key, once', async () => {
  const key = { 'idempotency-key': newId() }
  models.queue.push({ tokens: ['Never'], after: NEVER })
  const lost = client.request('POST', `/agents/${agentId}/chat`, { message: 'Hello?', stream: false }, key)
  const { id, conversation_id, user_message_id, message_id } = await until('the generation', () =>
    running().catch(() => null),
  )
  await orphan(id)
  await service.ctx.orphans.closeAll()
  service.ctx.generations.get(id)?.abort('lost')
  assert.deepEqual((await lost).body.error.code, 'SERVICE_OVERLOADED')
  models.queue.push({ tokens: ['Here I am.'] })
  const again = () =>
    client.request('POST', `/agents/${agentId}/chat`, { message: 'Hello?', stream: false }, key)
  const answers = [await again(), await again()]
  for (const { status, body } of answers) {
    assert.equal(status, 200)
    assert.deepEqual(body.data.parts, [{ type: 'text', text: 'Here I am.' }])
    assert.equal(body.data.metadata.conversationId, conversation_id)
    // The process may have named them to its client before it died.
    assert.deepEqual([body.data.metadata.userMessageId, body.data.id], [user_message_id, message_id])
  }
  assert.deepEqual(
    (await messagesOf(conversation_id)).map(({ id }: { id: string }) => id),
    [user_message_id, message_id],
  )
})

test('a process that was declared dead ends its answers as interrupted if nobody else has done so', async () => {
  const key = { 'idempotency-key': newId() }
  const ask = () =>
    client.request('POST', `/agents/${agentId}/chat`, { message: 'Hello?', stream: false }, key)
  models.queue.push({ tokens: ['Never'], after: NEVER })
  const lost = ask()
  const { id } = await until('the generation', () => running().catch(() => null))
  // Otherwise the next request would get the reply that was meant for this one.
  await until('the request to the model', () => models.queue.length === 0)
  service.ctx.generations.get(id)?.abort('lost')
  const refused = await lost
  assert.deepEqual([refused.status, refused.body.error?.code], [503, 'SERVICE_OVERLOADED'])
  models.queue.push({ tokens: ['Here', ' I', ' am.'], stallAfter: 2 })
  const half = ask()
  const again = await until('the words', async () => {
    const row = await running().catch(() => null)
    const live = row && service.ctx.generations.get(row.id)
    return live?.parts[0]?.type === 'text' && live.parts[0].text === 'Here I' && live
  })
  again.abort('lost')
  const { body } = await half
  assert.deepEqual(body.data.parts, [{ type: 'text', text: 'Here I' }])
  assert.equal(body.data.metadata.finishReason, 'error')
  const [, answer] = await messagesOf(body.data.metadata.conversationId)
  assert.deepEqual([answer.id, answer.metadata.finishReason], [body.data.id, 'error'])
})

test('a complete answer that the database refused at first is stored as such, though its process was declared dead', async () => {
  const { db, generations } = service.ctx
  // A sequence counts refused attempts, too.
  await sql`create sequence refusals`.execute(db)
  await sql`create function refuse() returns trigger language plpgsql as
    $$ begin if new.role = 'assistant' then raise 'refused %', nextval('refusals'); end if; return new; end $$`.execute(
    db,
  )
  await sql`create trigger refusing before insert on messages for each row execute function refuse()`.execute(
    db,
  )
  const refusals = async () =>
    (
      await sql<{
        n: number
      }>`select case when is_called then last_value else 0 end as n from refusals`.execute(db)
    ).rows[0]?.n ?? 0
  models.queue.push({ tokens: ['Whole', ' answer.'] })
  const answer = chat(client, agentId)
  await until('a refusal', async () => (await refusals()) > 0)
  const { id } = await running()
  generations.get(id)?.abort('lost')
  const already = await refusals()
  // An attempt that had begun before may be the next one.
  await until('further refusals', async () => (await refusals()) > already + 2)
  await sql`drop trigger refusing on messages`.execute(db)
  const { status, body } = await answer
  assert.equal(status, 200)
  assert.deepEqual(body.data.parts, [{ type: 'text', text: 'Whole answer.' }])
  const [, stored] = await messagesOf(body.data.metadata.conversationId)
  assert.deepEqual([stored.parts, stored.metadata.finishReason], [body.data.parts, 'stop'])
})

test('an answer with characters that cannot be stored is closed without them', async () => {
  models.queue.push({ tokens: ['a\u0000', 'b', '\uD83D', '\uDE00', '!\uD83D', '\uDE00'], stallAfter: 5 })
  const response = await stream({ message: 'Odd' })
  const { id, conversation_id } = await running()
  const live = service.ctx.generations.get(id)
  await until('the words in the log', async () => {
    const { events } = await readLog(service.ctx.db, client.accountId, id, 0)
    return events.filter(({ type }) => type === 'text-delta').length === 5
  })
  await orphan(id)
  assert.equal(await service.ctx.orphans.closeAll(), 1)
  live?.abort('stop')
  await response.text()
  const [, answer] = await messagesOf(conversation_id)
  assert.deepEqual(answer.parts, [{ type: 'text', text: 'ab\u{1F600}!\uFFFD' }])
})

test('generations that cannot be closed do not keep others from being closed', async () => {
  const { db } = service.ctx
  models.queue.push({ tokens: ['One', ' two'], stallAfter: 1 })
  const response = await stream({ message: 'Wait' })
  await response.body!.getReader().read()
  const { id, conversation_id } = await running()
  const copied = sql`('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid`
  await sql`
    insert into conversations (id, account_id, agent_id, source, title, status)
    select ${copied}, account_id, agent_id, source, 'Broken', 'ongoing'
    from conversations, generate_series(1, 200) as n where id = ${conversation_id}`.execute(db)
  await sql`
    insert into generations (id, account_id, agent_id, conversation_id, user_message_id, message_id, model, status,
      credits, kind, first_event, epoch, asked_seq)
    select ${copied}, account_id, agent_id, ${copied}, user_message_id, ${copied}, model, 'running', 0, 'reply', 0, 1, 1
    from generations, generate_series(1, 200) as n where id = ${id}`.execute(db)
  // The beginning of these logs is missing.
  await sql`
    insert into generation_log (generation_id, account_id, position, events)
    select ${copied}, ${client.accountId}, 5, '[]' from generate_series(1, 200) as n`.execute(db)
  await orphan(id)
  assert.equal(await service.ctx.orphans.closeAll(), 1)
  service.ctx.generations.get(id)?.abort('stop')
  await db
    .deleteFrom('conversations')
    .where('account_id', '=', client.accountId)
    .where('title', '=', 'Broken')
    .execute()
})

test('a start that the database carries out long after it seemed to have failed is given up', async () => {
  const { db, process, orphans } = service.ctx
  models.queue.push({ status: 400 })
  await chat(client, agentId)
  const { id } = await db
    .updateTable('generations')
    .set({ status: 'running', owner: process.id })
    .where('agent_id', '=', agentId)
    .returning('id')
    .executeTakeFirstOrThrow()
  await until('another process to close it', () =>
    orphans.closeIfOrphaned(client.accountId, { generationId: id }),
  )
})

test('a chat without a message answers the question that got no answer', async () => {
  models.queue.push({ status: 400 })
  const failed = await client.request('POST', `/agents/${agentId}/chat`, { message: 'Hello?', stream: false })
  assert.equal(failed.body.error.code, 'CHAT_PROVIDER_ERROR')
  const [{ id: conversationId }] = (await client.request('GET', `/agents/${agentId}/conversations`)).body.data
  models.queue.push({ tokens: ['Here I am.'] })
  const { status, body } = await client.request('POST', `/agents/${agentId}/chat`, {
    conversationId,
    stream: false,
  })
  assert.equal(status, 200)
  assert.deepEqual(body.data.parts, [{ type: 'text', text: 'Here I am.' }])
  assert.equal((await messagesOf(conversationId)).length, 2)
})

test('a repeated stream replays the log, event by event', async () => {
  const key = { 'idempotency-key': newId() }
  models.queue.push({ tokens: ['A', 'b', 'c', '\uD83D', '\uDE00', '"\n'] })
  const first = await readStream(await stream({ message: 'Again' }, key))
  const second = await readStream(await stream({ message: 'Again' }, key))
  assert.deepEqual(second.events, first.events)
})

const chat = (asking: Client, agent: string) =>
  asking.request('POST', `/agents/${agent}/chat`, { message: 'Hello?', stream: false })
