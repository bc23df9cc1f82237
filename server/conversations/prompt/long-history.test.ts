import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { answersAsked, type ModelHome, startModelHome } from '../../../test/model-home.ts'
import { until } from '../../../test/until.ts'
import { newId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'
import { storeDeletion } from '../records/change-message.ts'
import { summariseHistory } from './titles-and-summaries.ts'

const SUMMARY = 'The customer counted.'
let home: ModelHome
before(async () => {
  home = await startModelHome()
  home.server.otherwise(({ body }) =>
    JSON.stringify(body).includes('Summarise this conversation')
      ? { tokens: [SUMMARY] }
      : { tokens: ['Yes.'] },
  )
})
after(() => home.close())

test('what is left out of a long history is summarised once, in steps, and forgotten with a message', async () => {
  const { client, service, server } = home
  const { db } = service.ctx
  const agentId = await home.agentOf('openai-compatible')
  const say = async (message: string, conversationId?: string) => {
    const sent = { message, stream: false, conversationId }
    const { status, body } = await client.request('POST', `/agents/${agentId}/chat`, sent)
    assert.equal(status, 200, JSON.stringify(body))
    return body.data.metadata.conversationId as string
  }
  const id = await say('Number 1')
  const place = { account_id: client.accountId, agent_id: agentId, conversation_id: id }
  const rows = Array.from({ length: 36 }, (_, at) => ({
    id: newId(),
    ...place,
    seq: at + 3,
    role: at % 2 ? ('assistant' as const) : ('user' as const),
    parts: json([{ type: 'text' as const, text: `Number ${at + 3}` }]),
    metadata: null,
  }))
  await db
    .insertInto('messages')
    .values(rows as never)
    .execute()
  await db
    .updateTable('conversations')
    .set({ last_seq: 38, asked_seq: 37, answered_seq: 38 })
    .where('id', '=', id)
    .execute()
  const stored = () =>
    db
      .selectFrom('conversations')
      .select(['history_summary', 'summarised_seq'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  const history = () =>
    answersAsked(server)
      .at(-1)!
      .body.messages.slice(1)
      .map(({ content }: { content: string }) => content)
  const asked = () =>
    server.requests.filter(({ body }) => JSON.stringify(body).includes('Summarise this')).length

  await say('Number 39', id)
  assert.equal(history().length, 39)
  assert.equal((await stored()).summarised_seq, 0)
  await say('Number 41', id)
  await until('the summary', async () => (await stored()).summarised_seq === 20)
  assert.deepEqual(await stored(), { history_summary: SUMMARY, summarised_seq: 20 })
  await say('Number 43', id)
  const [first, ...rest] = history()
  assert.match(first, /^<earlier>\nThe customer counted\.\n<\/earlier>\n\nNumber 21$/)
  await say('Number 45', id)
  const [again, ...later] = history()
  assert.equal(again, first)
  assert.deepEqual(later.slice(0, rest.length - 1), rest.slice(0, -1), 'the beginning stays')
  assert.equal(asked(), 1)
  const deleted = { id: rows[2]!.id, conversation_id: id }
  await service.ctx.db
    .transaction()
    .execute((trx) => storeDeletion(trx, client.accountId as never, deleted, new Date().toISOString()))
  assert.deepEqual(await stored(), { history_summary: null, summarised_seq: 0 })
  await say('Number 47', id)
  assert.doesNotMatch(JSON.stringify(history()), /earlier/)
  await until('another summary', async () => (await stored()).summarised_seq === 20)
  assert.doesNotMatch(
    JSON.stringify(
      server.requests.filter(({ body }) => JSON.stringify(body).includes('Summarise this')).at(-1)!.body,
    ),
    /Number 5\b/,
  )
})

test('a summary of words that were taken back meanwhile is not stored over a newer one', async () => {
  const { client, service, server } = home
  const agentId = await home.agentOf('openai-compatible')
  const chat = (body: object) => client.request('POST', `/agents/${agentId}/chat`, { stream: false, ...body })
  const { conversationId } = (await chat({ message: 'Number 1' })).body.data.metadata
  await chat({ message: 'Number 3', conversationId })
  const ref = { accountId: client.accountId as never, agentId, conversationId }
  const summary = (history_summary: string) =>
    service.ctx.db
      .updateTable('conversations')
      .set({ history_summary, summarised_seq: 2 })
      .where('id', '=', conversationId)
      .execute()
  await summary('Of the first words.')
  const { promise: later, resolve: release } = Promise.withResolvers<void>()
  server.queue.push({ tokens: [SUMMARY], after: later })
  const model = service.ctx.models.resolve('openai-compatible')!
  const before = server.requests.length
  const made = summariseHistory(service.ctx, model, ref, { text: 'Of the first words.', until: 2 }, 4)
  await until('the question', () => server.requests.length > before)
  // Meanwhile, the first message is edited, and another turn summarises it anew.
  await summary('Of the edited words.')
  release()
  await made
  const { history_summary } = await service.ctx.db
    .selectFrom('conversations')
    .select('history_summary')
    .where('id', '=', conversationId)
    .executeTakeFirstOrThrow()
  assert.equal(history_summary, 'Of the edited words.')
})
