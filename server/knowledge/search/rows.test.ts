import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { onPostgres } from '../../../test/database.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { until } from '../../../test/until.ts'
import { newId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { createStemmer } from '../../platform/text/languages/language.ts'
import { insertChunks } from '../training/store-chunks.ts'
import { askedWords, findByWords, readSearchState, termHash } from './find-by-words.ts'
import { enqueueIndexing, INDEX_WORDS, indexWords } from './index-words.ts'
import type { SearchResult } from './search-result.ts'

let service: Service
let client: Client

before(async () => {
  service = await startService()
  client = await service.account({ plan: 'pro' })
})
after(() => service.close())

const newAgent = async (): Promise<string> =>
  (await client.request('POST', '/agents', { name: 'Agent' })).body.id

async function train(agentId: string, content: string, name = 'Text'): Promise<string> {
  const { status, body } = await client.request('POST', `/agents/${agentId}/sources`, {
    type: 'text',
    name,
    content,
  })
  assert.equal(status, 201, JSON.stringify(body))
  await trained(agentId, body.id)
  return body.id
}

const trained = (agentId: string, id: string): Promise<boolean> =>
  until('the training', async () => {
    const { body } = await client.request('GET', `/agents/${agentId}/sources/${id}`)
    assert.notEqual(body.status, 'failed', body.error)
    return body.status === 'trained'
  })

const agentOf = (agentId: string) => ({ id: agentId, accountId: client.accountId, knowledgeVersion: 1 })

const search = (
  { ctx }: Service,
  agentId: string,
  question: string,
  sourceIds?: string[],
): Promise<SearchResult> =>
  ctx.knowledge.search(agentOf(agentId), [question], { limit: 5, ...(sourceIds ? { sourceIds } : {}) })

const chunksOf = async (sourceId: string) =>
  (
    await sql<{ id: string; text: string; version: number; retired_in: number | null }>`
      select id, text, version, retired_in from chunks where source_id = ${sourceId} order by ordinal`.execute(
      service.ctx.db,
    )
  ).rows

const section = (title: string, said: string): string => `# ${title}\n\n${said}`

test('a published, a changed and a deleted source are seen by another process at once', async () => {
  const other = onPostgres() ? await startService({}, service, { idle: true }) : service
  try {
    const agentId = await newAgent()
    const id = await train(agentId, section('Parcels', 'The word of the day is harkenfield.'))
    assert.equal((await search(other, agentId, 'harkenfield')).passages.length, 1)
    await client.request('PUT', `/agents/${agentId}/sources/${id}`, {
      content: section('Parcels', 'It is ivyholme now.'),
    })
    await trained(agentId, id)
    assert.equal((await search(other, agentId, 'ivyholme')).passages.length, 1)
    assert.equal((await search(other, agentId, 'harkenfield')).passages.length, 0)
    await client.request('DELETE', `/agents/${agentId}/sources/${id}`)
    assert.deepEqual((await search(other, agentId, 'ivyholme')).passages, [])
    assert.equal(await other.ctx.knowledge.isEmpty(agentOf(agentId)), true)
  } finally {
    if (other !== service) await other.close()
  }
})

test('a new version keeps unchanged chunks, and is one row when it goes live', async () => {
  const agentId = await newAgent()
  const sections = ['alder', 'birch', 'cedar', 'drake'].map((word) =>
    section(word, `All about ${word}. `.repeat(60)),
  )
  const id = await train(agentId, sections.join('\n\n'))
  const earlier = await chunksOf(id)
  sections.splice(1, 1, section('elder', 'All about elder. '.repeat(60)))
  await client.request('PUT', `/agents/${agentId}/sources/${id}`, { content: sections.join('\n\n') })
  await trained(agentId, id)
  await until('the former chunks to go', async () =>
    (await chunksOf(id)).every(({ retired_in }) => retired_in === null),
  )
  const later = await chunksOf(id)
  const same = later.filter(({ id: chunk }) => earlier.some((one) => one.id === chunk))
  assert.ok(same.length >= 3 && same.length < later.length, `${same.length} of ${later.length}`)
  assert.ok(same.every(({ version }) => version === earlier[0]!.version))
  assert.equal((await search(service, agentId, 'birch')).passages.length, 0)
  assert.match((await search(service, agentId, 'elder')).passages[0]!.text, /elder/)
  const { rows } = await sql<{
    n: number
  }>`select count(*)::int as n from chunk_words where source_id = ${id}`.execute(service.ctx.db)
  assert.equal(rows[0]!.n, later.length)
})

test('only the asked sources are searched, and limits apply after that', async () => {
  const agentId = await newAgent()
  const first = await train(agentId, section('One', 'The colour of the gate is green.'), 'One')
  const second = await train(agentId, section('Two', 'The colour of the gate is blue.'), 'Two')
  const found = await search(service, agentId, 'What colour is the gate?', [second])
  assert.deepEqual(
    found.passages.map(({ sourceId }) => sourceId),
    [second],
  )
  assert.equal(
    (await search(service, agentId, 'What colour is the gate?', [first, second])).passages.length,
    2,
  )
})

test('equal texts and colliding hashes bring back nothing of another agent', async () => {
  const [mine, theirs] = [await newAgent(), await newAgent()]
  await train(mine, section('Mine', 'The harbour opens at nine.'))
  await train(theirs, section('Theirs', 'The harbour opens at nine.'))
  const { db } = service.ctx
  // Both agents hash alike from here on, as a collision would.
  await sql`update agents set terms_salt = (select terms_salt from agents where id = ${mine}) where id = ${theirs}`.execute(
    db,
  )
  await sql`
    update chunk_words set terms = (select terms from chunk_words where agent_id = ${mine} limit 1) where agent_id = ${theirs}`.execute(
    db,
  )
  const { passages } = await search(service, mine, 'When does the harbour open?')
  const { rows } = await sql<{ id: string }>`select id from chunks where agent_id = ${mine}`.execute(db)
  assert.deepEqual(
    passages.map(({ chunkId }) => chunkId),
    rows.map(({ id }) => id),
  )
  const stranger = await service.account()
  const foreign = { id: mine, accountId: stranger.accountId, knowledgeVersion: 1 }
  assert.deepEqual((await service.ctx.knowledge.search(foreign, ['harbour'], { limit: 5 })).passages, [])
})

test('words that an old version did not store are indexed, and an interrupted run goes on', async () => {
  const { ctx } = service
  const agentId = await newAgent()
  const id = await train(
    agentId,
    Array.from({ length: 130 }, (_, i) => section(`Part ${i}`, `Marker${i} stands here. `.repeat(40))).join(
      '\n\n',
    ),
  )
  await sql`delete from chunk_words where agent_id = ${agentId}`.execute(ctx.db)
  await sql`update sources set words_version = null, chunk_count = 0 where id = ${id}`.execute(ctx.db)
  const miss = await search(service, agentId, 'marker77')
  assert.deepEqual([miss.passages.length, miss.isIndexing], [0, true])
  assert.equal(await ctx.knowledge.isEmpty(agentOf(agentId)), false)
  const job = { accountId: client.accountId, agentId }
  // The job stops after its first transactions, as it does when its process is killed.
  const stop = {
    throwIfAborted: () => looks++ > 1 && assert.fail('The process ends.'),
  } as unknown as AbortSignal
  let looks = 0
  await assert.rejects(indexWords(ctx, job, { signal: stop }))
  assert.equal((await search(service, agentId, 'marker77')).isIndexing, true)
  await Promise.all([0, 1].map(() => indexWords(ctx, job, { signal: new AbortController().signal })))
  const found = await search(service, agentId, 'marker77')
  assert.deepEqual([found.isIndexing, found.passages.length > 0], [false, true])
  const { rows } = await sql<{ words: number; chunks: number }>`
    select (select count(*)::int from chunk_words where source_id = ${id}) as words,
      (select count(*)::int from chunks where source_id = ${id}) as chunks`.execute(ctx.db)
  assert.equal(rows[0]!.words, rows[0]!.chunks)
})

test('agents that were asked last are indexed first', async () => {
  const { ctx } = service
  const agents = [await newAgent(), await newAgent()]
  for (const agentId of agents) await train(agentId, section('Some', 'text about something'))
  const asked = agents[1]!
  await client.request('POST', `/agents/${asked}/chat`, { message: 'something', stream: false })
  await sql`update sources set words_version = null where agent_id in (${sql.join(agents)})`.execute(ctx.db)
  const enqueued: string[] = []
  const jobs = {
    ...ctx.jobs,
    enqueue: async (_: unknown, task: string, { agentId }: { agentId: string }) => {
      if (task === INDEX_WORDS) enqueued.push(agentId)
    },
  } as typeof ctx.jobs
  await enqueueIndexing({ db: ctx.db, jobs })
  assert.deepEqual(
    enqueued.filter((id) => agents.includes(id)),
    [asked, agents[0]],
  )
})

test('a word in too many rows is passed over, and pairs of such words are not', async () => {
  const { ctx } = service
  const agentId = await newAgent()
  const sourceId = newId()
  await ctx.db
    .insertInto('sources')
    .values({
      id: sourceId,
      account_id: client.accountId,
      agent_id: agentId,
      type: 'text',
      name: 'Large',
      status: 'trained',
      content: json({ text: '' }),
      live_version: 1,
      words_version: 1,
      chunk_count: 4_300,
    })
    .execute()
  const place = { accountId: client.accountId, agentId, sourceId, sourceName: null, page: null }
  const said = (i: number): string => (i === 0 ? 'amber basalt' : i % 2 === 0 ? 'amber' : 'basalt')
  for (let from = 0; from < 4_300; from += 50) {
    const added = Array.from({ length: 50 }, (_, i) => ({
      ordinal: from + i,
      chunk: { headingPath: [], page: null, questions: null, text: `${said(from + i)} row${from + i}` },
    }))
    await transact(ctx.db, (trx) => insertChunks(trx, place, 1, added))
  }
  const { passages } = await search(service, agentId, 'amber basalt')
  assert.match(passages[0]!.text, /amber basalt/)
  assert.match((await search(service, agentId, 'amber row4242')).passages[0]!.text, /row4242/)
  // Words that no text holds take no place of those that are combined.
  const scope = { accountId: client.accountId, agentId, sourceIds: null }
  const state = (await readSearchState(ctx.db, scope))!
  const unknown = Array.from({ length: 9 }, (_, i) => `unknown${i}`)
  const words = askedWords([...unknown, 'amber', 'basalt'].join(' '), state.languages, createStemmer())
  const { chunkIds } = await transact(ctx.db, (trx) => findByWords(trx, scope, words, state))
  assert.deepEqual(chunkIds, [passages[0]!.chunkId])
})

test('a large and a small agent are searched by the index of terms alone', async (t) => {
  const { ctx } = service
  const small = await newAgent()
  await train(small, section('Small', 'The lighthouse is closed in winter.'))
  const { rows } = await sql<{ agent_id: string }>`
    select agent_id from chunk_words group by agent_id order by count(*) desc limit 1`.execute(ctx.db)
  await sql`analyze chunk_words`.execute(ctx.db)
  if (!onPostgres()) t.diagnostic('the plans of the embedded database are the same')
  const stem = createStemmer()
  for (const [agentId, question] of [
    [rows[0]!.agent_id, 'amber row17'],
    [small, 'lighthouse winter'],
  ] as const) {
    const plan = await transact(ctx.db, async (trx) => {
      await sql`set local plan_cache_mode = force_custom_plan`.execute(trx)
      const scope = { accountId: client.accountId, agentId, sourceIds: null }
      const state = (await readSearchState(trx, scope))!
      const words = askedWords(question, state.languages, stem)
      const found = await findByWords(trx, scope, words, state)
      assert.ok(found.chunkIds.length > 0)
      const hash = termHash(state.salt, words[0]!.terms[0]!)
      return sql<{ 'QUERY PLAN': string }>`
        explain select chunk_id from chunk_words
        where account_id = ${client.accountId} and agent_id = ${agentId} and terms && array[${hash}::bigint]`.execute(
        trx,
      )
    })
    const lines = plan.rows.map((row) => row['QUERY PLAN']).join('\n')
    assert.equal(new Set(lines.match(/chunk_words_\d/g)).size, 1, lines)
    if (agentId !== small) assert.match(lines, /chunk_words_\d_terms/)
  }
})

test('health says how large the index is for each of its rows', async () => {
  await sql`vacuum analyze chunk_words`.execute(service.ctx.db)
  const { rows } = await sql<{ n: number }>`
    select sum(reltuples)::int as n from pg_class where relname ~ '^chunk_words_[0-7]$'`.execute(
    service.ctx.db,
  )
  assert.ok(rows[0]!.n > 0)
  const fresh = onPostgres() ? await startService({}, service, { idle: true }) : null
  const bytes = await until(
    'health says it',
    async () => (await (fresh ?? service).anonymous('GET', '/health?details=true')).body.indexBytesPerRow,
  )
  assert.ok(bytes > 100 && bytes < 10_000, `${bytes} bytes`)
  await fresh?.close()
})
