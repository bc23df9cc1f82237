import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { sql } from 'kysely'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { trained, until } from '../../../test/until.ts'
import { explainCommand } from '../../admin/commands/explain-command.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { reportOf } from '../prompt/outcome-report.ts'
import { storeDeletion, storeEdit } from '../records/change-message.ts'
import { asFarAsKept, dropOldPrompts, recordAnswer, storingRecord } from './record-answer.ts'

let service: Service
let client: Client
let models: ModelServer
let folder: string
let agentId: string
const QUESTION = 'How long is the warranty of the Halo lamp?'

before(async () => {
  models = await startModelServer()
  folder = await mkdtemp(join(tmpdir(), 'explanations-'))
  const file = join(folder, 'models.json')
  const fake = {
    id: 'fake',
    provider: 'openai-compatible',
    baseUrl: `${models.url}/v1`,
    apiKey: 'sk-test-key',
  }
  const prices = { input: 2, cached: 1, output: 10 }
  await writeFile(file, JSON.stringify({ auto: 'fake', models: [{ ...fake, prices }] }))
  service = await startService({ MODELS_FILE: file })
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Lumi' })).body.id
  const source = { type: 'text', name: 'Warranty', content: 'The Halo lamp has a warranty of five years.' }
  await trained(service, (await client.request('POST', `/agents/${agentId}/sources`, source)).body.id)
})
after(async () => {
  await service.close()
  await models.close()
  await rm(folder, { recursive: true, force: true })
})

const path = (rest: string) => `/agents/${agentId}${rest}`
const say = async (body: object) =>
  (await client.request('POST', path('/chat'), { stream: false, ...body })).body.data
const explain = (conversationId: string, messageId: string) =>
  client.request('GET', path(`/conversations/${conversationId}/messages/${messageId}/explanation`))

test('an answer explains itself: model, tokens, money, time, passages, outcome and marks', async () => {
  models.queue.push({
    tokens: ['Seven ', 'years, or 7 [1].', `\n${reportOf('answered')}`],
    usage: [1_000, 200],
  })
  const { id, metadata } = await say({ message: QUESTION })
  const { status, body } = await explain(metadata.conversationId, id)
  assert.equal(status, 200, JSON.stringify(body))
  const { model, outcome, ungrounded, dollars, madeOf, sources } = body.data
  assert.deepEqual([model, outcome, ungrounded], ['fake', 'answered', [{ kind: 'number', text: '7' }]])
  assert.equal(dollars, (1_000 * 2 + 200 * 10) / 1_000_000)
  assert.equal(sources[0].name, 'Warranty')
  const [passage] = madeOf.passages
  assert.deepEqual([passage.sourceName, passage.text], ['Warranty', ''])
  const [step] = madeOf.steps
  assert.deepEqual([step.inputTokens, step.outputTokens, step.prompt], [1_000, 200, []])
  assert.equal(typeof step.firstMs, 'number')
  const shown = await explainCommand.run({ db: service.ctx.db } as never, { values: {}, positionals: [id] })
  assert.match(
    explainCommand.print(shown),
    /Model: fake[\s\S]*Outcome: answered[\s\S]*1\. Warranty[\s\S]*1000 tokens read/,
  )
  const { models: used } = (await client.request('GET', '/usage')).body
  const { day: _, ...row } = used[0]
  assert.deepEqual(
    [used.length, row],
    [
      1,
      {
        agentId,
        agentName: 'Lumi',
        model: 'fake',
        purpose: 'answer',
        calls: 1,
        inputTokens: 1_000,
        cachedTokens: 0,
        outputTokens: 200,
        reasoningTokens: 0,
        dollars,
        unpricedCalls: 0,
      },
    ],
  )
  const asked = await explain(metadata.conversationId, metadata.userMessageId)
  assert.equal(asked.body.error.code, 'RESOURCE_MESSAGE_NOT_ASSISTANT')
  assert.equal(
    (await explain(metadata.conversationId, 'nobody')).body.error.code,
    'RESOURCE_MESSAGE_NOT_FOUND',
  )
})

test('prompts are kept for the days that the owner allows, without numbers of cards', async () => {
  const days = (promptDays: number | null) =>
    client.request('PUT', path('/retention'), { retentionDays: null, promptDays })
  assert.equal((await days(7)).status, 200)
  const { id, metadata } = await say({ message: `${QUESTION} My card is 4111 1111 1111 1111.` })
  const steps = async () => (await explain(metadata.conversationId, id)).body.data.madeOf.steps
  const prompt = JSON.stringify((await steps())[0].prompt)
  assert.match(prompt, /warranty of five years[\s\S]*How long is the warranty/)
  assert.match(prompt, /card number …1111/)
  assert.doesNotMatch(prompt, /4111/)
  await dropOldPrompts(service.ctx.db)
  assert.notDeepEqual((await steps())[0].prompt, [])
  await sql`update playground_runs set created_at = now() - interval '8 days' where message_id = ${id}`.execute(
    service.ctx.db,
  )
  await dropOldPrompts(service.ctx.db)
  const [step] = await steps()
  assert.deepEqual(step.prompt, [])
  assert.ok(step.inputTokens > 0)
  const rest = await sql<{
    made_of: unknown
  }>`select made_of from playground_runs where message_id = ${id}`.execute(service.ctx.db)
  assert.doesNotMatch(JSON.stringify(rest.rows), /warranty of five years/)
})

test('prompts with words that their author has taken back leave at once', async () => {
  await client.request('PUT', path('/retention'), { retentionDays: null, promptDays: 7 })
  const { db } = service.ctx
  const texts = async (deletes: (messageId: string, conversationId: string) => Promise<void>) => {
    const { id, metadata } = await say({ message: `${QUESTION} My name is Quentin.` })
    const made = async () => JSON.stringify((await explain(metadata.conversationId, id)).body.data.madeOf)
    assert.match(await made(), /Quentin/)
    await deletes(metadata.userMessageId, metadata.conversationId)
    assert.doesNotMatch(await made(), /Quentin/)
  }
  const at = new Date().toISOString()
  await texts((messageId) => storeEdit(db, client.accountId, messageId, { text: QUESTION, editedAt: at }))
  await texts((id, conversation_id) => storeDeletion(db, client.accountId, { id, conversation_id }, at))
  await client.request('PUT', path('/retention'), { retentionDays: null, promptDays: null })
})

test('what a provider wants back leaves with words that were taken back, unless a call still waits', async () => {
  const { db } = service.ctx
  const { id, metadata } = await say({ message: `${QUESTION} My name is Quentin.` })
  const { conversationId, userMessageId } = metadata
  const replay = { call: { reasoning: [{ type: 'reasoning', text: 'Quentin asks.' }] } }
  await sql`update messages set metadata = metadata || ${JSON.stringify({ replay })}::jsonb where id = ${id}`.execute(
    db,
  )
  await sql`insert into tool_calls (id, account_id, agent_id, conversation_id, message_id, generation_id, name, type, input, status)
    values (${id}, ${client.accountId}, ${agentId}, ${conversationId}, ${id}, ${id}, 'ask', 'client', '{}', 'pending')`.execute(
    db,
  )
  const kept = async (editedAt: string) => {
    await storeEdit(db, client.accountId, userMessageId, { text: QUESTION, editedAt })
    const row = db.selectFrom('messages').select('metadata').where('id', '=', id)
    return /Quentin/.test(JSON.stringify((await row.executeTakeFirstOrThrow()).metadata))
  }
  assert.equal(await kept('2026-01-01T00:00:00.000Z'), true)
  await sql`update tool_calls set status = 'success', resolved_at = now() where id = ${id}`.execute(db)
  assert.equal(await kept('2026-01-02T00:00:00.000Z'), false)
})

const NOTHING_FOUND = {
  passages: [],
  confidence: 0,
  isFound: false,
  isIndexing: false,
  hasKnownWord: false,
  vectorProblem: null,
  embeddingUse: null,
  question: QUESTION,
  about: null,
}

type Change = (messageId: string, conversationId: string) => Promise<unknown>

/**
 * Stores two continuations of an answer, each of one step, with a change after `after` of them, and returns all that is
 * stored of it.
 */
async function recordedWith(
  change: Change,
  after: number,
  days: { asked: number | null; continued: number | null } = { asked: 7, continued: 7 },
) {
  const { db } = service.ctx
  await keepPrompts(days.asked)
  const { id, metadata } = await say({ message: `${QUESTION} My name is Quentin.` })
  const { conversationId, userMessageId } = metadata
  const ref = { accountId: client.accountId, agentId }
  const read = await db
    .selectFrom('messages')
    .selectAll()
    .where('account_id', '=', ref.accountId)
    .where('conversation_id', '=', conversationId)
    .orderBy('seq')
    .execute()
  await keepPrompts(days.continued)
  const keeps = days.continued === null ? 'never' : 'for-days'
  const model = service.ctx.models.resolve('fake')?.entry
  assert.ok(model)
  const parts = async function* (): AsyncGenerator<LanguageModelV4StreamPart[]> {
    yield [{ type: 'reasoning-delta', id: '1', delta: 'Quentin, of 4111 1111 1111 1111, asks.' }]
  }
  const prompt: LanguageModelV4Prompt = [{ role: 'user', content: [{ type: 'text', text: 'I am Quentin.' }] }]
  for (const step of [0, 1, 2]) {
    if (step === after) await change(userMessageId, conversationId)
    if (step === 2) break
    const record = recordAnswer({ channel: 'api', temp: 0 }, keeps)
    record.noteFound(NOTHING_FOUND)
    for await (const _ of record.watch(model, { prompt }, parts()));
    await transact(db, async (trx) => {
      const made = record.made()
      assert.ok(made)
      const place = { ...ref, conversationId }
      await storingRecord(place, id, await asFarAsKept(trx, place, made, read), true).execute(trx)
    })
  }
  const row = await db
    .selectFrom('playground_runs')
    .select(['made_of', 'has_prompt'])
    .where('account_id', '=', ref.accountId)
    .where('message_id', '=', id)
    .executeTakeFirstOrThrow()
  return { text: JSON.stringify(row.made_of), hasPrompt: row.has_prompt }
}

const keepPrompts = (promptDays: number | null) =>
  client.request('PUT', path('/retention'), { retentionDays: null, promptDays })

test('a step does not bring back the prompts that an edit, a deletion or the owner has removed', async () => {
  const { db } = service.ctx
  const at = new Date().toISOString()
  const changes: [string, Change][] = [
    ['edit', (id) => storeEdit(db, client.accountId, id, { text: QUESTION, editedAt: at })],
    ['deletion', (id, conversation_id) => storeDeletion(db, client.accountId, { id, conversation_id }, at)],
    ['setting', () => keepPrompts(null)],
    ['setting and sweep', () => keepPrompts(null).then(() => dropOldPrompts(db))],
  ]
  for (const after of [0, 1])
    for (const [name, change] of changes) {
      const { text, hasPrompt } = await recordedWith(change, after)
      assert.doesNotMatch(text, /Quentin|five years/, `${name} after step ${after}`)
      assert.equal(hasPrompt, false)
    }
  await keepPrompts(null)
})

test('prompts that are kept are found for their deletion, whenever the owner allowed them', async () => {
  for (const asked of [null, 7]) {
    const kept = await recordedWith(async () => {}, 0, { asked, continued: 7 })
    assert.match(kept.text, /I am Quentin/)
    assert.match(kept.text, /Quentin, of [^"]*…1111/)
    assert.doesNotMatch(kept.text, /4111/)
    assert.equal(kept.hasPrompt, true)
  }
  const dropped = await recordedWith(async () => {}, 0, { asked: 7, continued: null })
  assert.deepEqual([dropped.hasPrompt, /Quentin/.test(dropped.text)], [false, false])
})

test('the reasoning of a model has no numbers of cards, and leaves with words that were taken back', async () => {
  await client.request('PUT', path('/retention'), { retentionDays: null, redactPaymentNumbers: true })
  const { db } = service.ctx
  const reasoning = 'Quentin has 4111 1111 1111 1111.'
  models.queue.push({ reasoning, tokens: ['Five years.'] })
  const { metadata } = await say({ message: `${QUESTION} My name is Quentin.` })
  const { conversationId, userMessageId } = metadata
  await client.request('PUT', path('/retention'), { retentionDays: null, redactPaymentNumbers: false })
  const stored = async () => {
    const { body } = await client.request(
      'GET',
      path(`/conversations/export?conversationId=${conversationId}`),
    )
    return body.data[0].messages.map((one: { metadata?: { reasoning?: string } }) => one.metadata?.reasoning)
  }
  const [, first] = await stored()
  assert.match(first, /Quentin has .*…1111/)
  assert.doesNotMatch(first, /4111/)
  const editedAt = new Date().toISOString()
  const edit = () => storeEdit(db, client.accountId, userMessageId, { text: QUESTION, editedAt })
  let release = () => {}
  const after = new Promise<void>((resolve) => {
    release = resolve
  })
  const begun = models.requests.length
  models.queue.push({ reasoning, tokens: ['You are welcome.'], after })
  const next = say({ message: 'Thanks', conversationId })
  await until('the next answer', () => models.requests.length > begun || null)
  await edit()
  assert.deepEqual((await stored()).filter(Boolean), [])
  release()
  await next
  assert.deepEqual((await stored()).filter(Boolean), [])
})

test('models read no numbers of cards and accounts where the owner wants it', async () => {
  const redact = (redactPaymentNumbers: boolean) =>
    client.request('PUT', path('/retention'), { retentionDays: null, redactPaymentNumbers })
  assert.equal((await redact(true)).status, 200)
  const message = 'My card 4111 1111 1111 1111 and my account DE89370400440532013000 were charged.'
  const { metadata } = await say({ message })
  await say({ message: 'Why?', conversationId: metadata.conversationId })
  await redact(false)
  const asked = models.requests
    .map(({ body }) => JSON.stringify(body))
    .filter((body) => body.includes('were charged'))
  assert.ok(asked.length > 1)
  for (const body of asked) {
    assert.doesNotMatch(body, /4111 1111|DE8937/)
    assert.match(body, /card number …1111/)
  }
  const stored = await client.request('GET', path(`/conversations/${metadata.conversationId}/messages`))
  assert.equal(stored.body.data[0].parts[0].text, message)
})

test('the built-in responder has no more to explain than its outcome', async () => {
  const { id } = (await client.request('POST', '/agents', { name: 'Plain', model: 'builtin' })).body
  const { data } = (await client.request('POST', `/agents/${id}/chat`, { message: 'Hello', stream: false }))
    .body
  const { conversationId } = data.metadata
  const { body } = await client.request(
    'GET',
    `/agents/${id}/conversations/${conversationId}/messages/${data.id}/explanation`,
  )
  assert.deepEqual([body.data.madeOf, body.data.dollars, body.data.model], [null, null, 'builtin'])
})
