import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { freshDatabase, onPostgres } from '../../../test/database.ts'
import { plansOf } from '../../../test/plans-of.ts'
import { createAccount } from '../../accounts/records/accounts.ts'
import { nearestChunks } from '../../knowledge/search/knowledge.ts'
import { asText, ensureSpace, type Space, vectorsOf } from '../../knowledge/vectors/spaces.ts'
import type { Db } from '../../platform/db/database.ts'
import { newAgentId } from '../../platform/db/ids.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { preparePgvector } from '../../platform/db/upkeep/pgvector.ts'
import type { Operations } from '../command.ts'
import { spacesCancel, spacesIndex, spacesList, spacesRebuild, spacesResume } from './space-commands.ts'

const DIMENSIONS = 32
const SOURCES = 20
const LARGE = 9_000
const SMALL = 10

let fresh: Awaited<ReturnType<typeof freshDatabase>>
let db: Db
let account: AccountId
let space: Space
let large: string
let small: string

before(async () => {
  fresh = await freshDatabase()
  db = fresh.database.db
  await preparePgvector(db)
  account = await createAccount(db, 'A')
  space = (await ensureSpace(db, 'space', DIMENSIONS))!
  large = await agentWith(LARGE)
  await agentWith(900)
  small = await agentWith(SMALL)
  await sql`analyze`.execute(db)
})
after(async () => {
  await fresh.database.close()
  await fresh.drop()
})

/** Adds an agent with sources of equal size, whose chunks have vectors of any direction. */
async function agentWith(chunks: number): Promise<string> {
  const id = newAgentId()
  await sql`insert into agent_ids (id, account_id) values (${id}, ${account}) on conflict do nothing`.execute(
    db,
  )
  await sql`insert into agents (id, account_id, name, instructions, model, temp, visibility, initial_messages,
      ip_rate_limits, styles, vector_space)
    values (${id}, ${account}, 'A', '', 'auto', 0, 'public', '[]', '{}', '{}', 'space')`.execute(db)
  await sql`insert into sources (id, account_id, agent_id, type, status, content, live_version)
    select gen_random_uuid(), ${account}, ${id}, 'text', 'trained', '{}', 1
    from generate_series(1, ${SOURCES}::int)`.execute(db)
  await sql`insert into chunks (id, account_id, agent_id, source_id, version, ordinal, heading_path, text, vector_key)
    select gen_random_uuid(), ${account}, ${id}, s.id, 1, n, '[]', repeat('A long text. ', 50), 'key ' || n
    from (select id, row_number() over () as place from sources where agent_id = ${id}) as s
    join generate_series(1, ${chunks}::int) as n on n % ${SOURCES}::int = s.place - 1`.execute(db)
  const random = sql.raw(
    `array(select random() - 0.5 + chunks.ordinal * 0 from generate_series(1, ${DIMENSIONS}))`,
  )
  await sql`insert into ${vectorsOf(space)} (account_id, agent_id, source_id, vector_key, vector)
    select account_id, agent_id, source_id, vector_key, l2_normalize(${random}::real[]::${sql.raw(
      onPostgres() ? 'halfvec' : 'vector',
    )})
    from chunks where agent_id = ${id}`.execute(db)
  return id
}

const QUERY = Float32Array.from({ length: DIMENSIONS }, (_, i) => Math.sin(i) / 4)

const models = {
  embedderOf: () => ({ embedQuestions: async () => ({ vectors: [QUERY], use: null }) }) as never,
}

const nearest = async (agentId: string, sourceIds?: string[], to = db) => {
  const log = { warn: (error: unknown) => assert.fail(String(JSON.stringify(error))) } as never
  const asked = { account, agentId, queries: ['q'], sourceIds, limit: 50 }
  return (await nearestChunks({ db: to, models, log }, asked)).near[0]!.map(({ chunkId }) => chunkId)
}

/** The same without any limit before the filter. */
async function exactly(agentId: string, sourceIds: string[] | null): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select chunks.id from chunks join ${vectorsOf(space)} as v
      on v.agent_id = chunks.agent_id and v.source_id = chunks.source_id and v.vector_key = chunks.vector_key
    where chunks.agent_id = ${agentId} and (${sourceIds}::uuid[] is null or chunks.source_id = any(${sourceIds}::uuid[]))
    order by v.vector <#> ${asText(QUERY)}, chunks.id limit 50`.execute(db)
  return rows.map(({ id }) => id)
}

const sourcesOf = async (agentId: string): Promise<string[]> =>
  (await db.selectFrom('sources').select('id').where('agent_id', '=', agentId).orderBy('id').execute()).map(
    ({ id }) => id,
  )

const shareOf = (found: string[], wanted: string[]): number =>
  found.filter((id) => wanted.includes(id)).length / wanted.length

test('the exact scan finds the nearest, also with a filter that keeps a twentieth', async () => {
  const [source] = await sourcesOf(large)
  assert.ok(shareOf(await nearest(large), await exactly(large, null)) > 0.97)
  assert.ok(shareOf(await nearest(large, [source!]), await exactly(large, [source!])) > 0.97)
  assert.equal((await nearest(small)).length, SMALL)
})

test('an agent with nearly all rows is scanned, and one with few is read by its key', async () => {
  const query = (agentId: string) => async (to: Db) => {
    await sql`
      select source_id from ${vectorsOf(space)} where account_id = ${account} and agent_id = ${sql.lit(agentId)}
      order by vector <#> ${sql.lit(asText(QUERY))} limit 100`.execute(to)
  }
  const [ofLarge = ''] = await plansOf(db, query(large))
  const [ofSmall = ''] = await plansOf(db, query(small))
  assert.match(ofLarge, /Seq Scan on vectors_\d+_\d|Bitmap/)
  assert.doesNotMatch(ofLarge, /Append/, 'only the part of the agent is read')
  assert.match(ofSmall, /Index|Bitmap|Seq Scan on vectors_\d+_\d/)
})

test('a space is listed, its filling is stopped and goes on, and dead rows are removed', async () => {
  const models = { embedder: { space: 'space' } }
  const catalogue = { embedding: null }
  const run = {
    db,
    embedded: fresh.database.embedded,
    openModels: () => ({ catalogue, models }),
  } as unknown as Operations
  const none = { values: {}, positionals: [] }
  await db.updateTable('agents').set({ vector_space: null }).where('id', '=', small).execute()
  assert.match(
    spacesList.print(await spacesList.run(run, none)),
    /^space: 32 numbers, used by 2 agents, \d+ MB\nspace is being filled: 10 of 10 texts of 1 agents are done, 0 are left/,
  )
  await db.updateTable('agents').set({ vector_space: 'space' }).where('id', '=', small).execute()
  await spacesCancel.run(run, none)
  assert.match(spacesList.print(await spacesList.run(run, none)), /MB, stopped\nEvery agent uses space\.$/)
  await spacesResume.run(run, none)
  const { tables } = await spacesRebuild.run(run, none)
  assert.equal(tables, 16)
  assert.ok(shareOf(await nearest(large), await exactly(large, null)) > 0.97)
})

test('an index of one agent finds nearly all of the nearest, also with a filter', {
  skip: !onPostgres(),
}, async () => {
  const run = { db, embedded: false } as Operations
  const built = await spacesIndex.run(run, { values: {}, positionals: [large] })
  assert.deepEqual(await spacesIndex.run(run, { values: {}, positionals: [large] }), { ...built, seconds: 0 })
  const [source] = await sourcesOf(large)
  const [all, filtered] = await db.transaction().execute(async (trx) => {
    // For so few rows, a scan and a sort would be cheaper.
    await sql`set local enable_sort = off`.execute(trx)
    await sql`select pg_stat_force_next_flush()`.execute(trx)
    return [
      shareOf(await nearest(large, undefined, trx), await exactly(large, null)),
      shareOf(await nearest(large, [source!], trx), await exactly(large, [source!])),
    ] as const
  })
  const { rows } = await sql<{ scans: number }>`
    select idx_scan as scans from pg_stat_user_indexes where indexrelname = ${built.index}`.execute(db)
  assert.ok((rows[0]?.scans ?? 0) > 0, 'the index is used')
  assert.ok(all >= 0.9 && filtered >= 0.9, `${all}, ${filtered}`)
  assert.equal((await nearest(small)).length, SMALL)
})
