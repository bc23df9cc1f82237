import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import { type AgentRef, ownRow } from '../../platform/db/refs.ts'
import { hasPgvector, preparePgvector } from '../../platform/db/upkeep/pgvector.ts'

/** An embedding space whose vectors are stored. */
export type Space = { id: number; name: string; dimensions: number }

/** Vectors that cannot be stored, for a reason that the operator can mend. */
export class SpaceRefused extends Error {
  override name = 'SpaceRefused'
}

/** More do not fit into a page of the database, nor into an index. */
const MAX_DIMENSIONS = 4_000
/** The tables of a space are split by agent, so that one agent's vectors lie together and are vacuumed by themselves. */
const PARTS = 8
/** An arbitrary number that must be the same in every process. */
const MAKING_LOCK = 7_275_397

/**
 * A vector stays in its row: what is moved out of it costs a scan two more reads. Dead rows are removed early, because
 * a scan reads them as well.
 */
const STORAGE = sql.raw(
  'toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05',
)

/** The table with the vectors of a space. */
export const vectorsOf = ({ id }: Pick<Space, 'id'>): RawBuilder<unknown> => sql.id(`vectors_${id}`)

export const asText = (vector: Float32Array): string => `[${vector.join()}]`

export async function findSpace(db: Db, name: string): Promise<Space | null> {
  const space = await db
    .selectFrom('vector_spaces')
    .select(['id', 'name', 'dimensions'])
    .where('name', '=', name)
    .executeTakeFirst()
  return space ?? null
}

export const listSpaces = (db: Db): Promise<Space[]> =>
  db.selectFrom('vector_spaces').select(['id', 'name', 'dimensions']).orderBy('id').execute()

/** Returns the space of an agent whose vectors are in use; null for none. */
export async function liveSpace(db: Db, { accountId, agentId }: AgentRef): Promise<string | null> {
  const agent = await db
    .selectFrom('agents')
    .select('vector_space')
    .where(ownRow(accountId, agentId))
    .executeTakeFirst()
  return agent?.vector_space ?? null
}

/**
 * Returns a space for vectors of this size, and makes its tables if they do not exist; null where the database has no
 * pgvector. Throws SpaceRefused.
 */
export async function ensureSpace(db: Db, name: string, dimensions: number): Promise<Space | null> {
  const known = await findSpace(db, name)
  if (known) return fitting(known, dimensions)
  if (dimensions > MAX_DIMENSIONS)
    throw new SpaceRefused(
      `The embedding model makes vectors of ${dimensions} numbers, and at most ${MAX_DIMENSIONS} can be stored. If it can shorten them, set "dimensions" of the embedding model in MODELS_FILE; otherwise choose another model.`,
    )
  if (!db.isTransaction && (await preparePgvector(db)) !== null) return null
  if (db.isTransaction && !(await hasPgvector(db))) return null
  const make = (trx: Db): Promise<Space> => makeSpace(trx, name, dimensions)
  return fitting(await (db.isTransaction ? make(db) : db.transaction().execute(make)), dimensions)
}

function fitting(space: Space, dimensions: number): Space {
  if (space.dimensions === dimensions) return space
  throw new SpaceRefused(
    `The embedding model makes vectors of ${dimensions} numbers, but those that are stored have ${space.dimensions}. Its server has another model under this name now: start the former one, or give the new one another name.`,
  )
}

async function makeSpace(trx: Db, name: string, dimensions: number): Promise<Space> {
  await sql`select pg_advisory_xact_lock(${sql.lit(MAKING_LOCK)})`.execute(trx)
  const made = await findSpace(trx, name)
  if (made) return made
  const space = await trx
    .insertInto('vector_spaces')
    .values({ name, dimensions })
    .returning(['id', 'name', 'dimensions'])
    .executeTakeFirstOrThrow()
  const { rows } = await sql<{ embedded: boolean }>`select version() like '%PGlite%' as embedded`.execute(trx)
  // A half is converted by the processor, but by a table in WebAssembly, where whole numbers are 2.6 times as fast.
  const type = rows[0]?.embedded ? 'vector' : 'halfvec'
  await sql`
    create table ${vectorsOf(space)} (
      agent_id text not null,
      account_id uuid not null,
      source_id uuid not null,
      vector_key text not null,
      vector ${sql.raw(`${type}(${dimensions})`)} not null,
      primary key (agent_id, source_id, vector_key)
    ) partition by hash (agent_id)`.execute(trx)
  for (let part = 0; part < PARTS; part++) {
    await sql`
      create table ${partOf(space, part)} partition of ${vectorsOf(space)}
      for values with (modulus ${sql.lit(PARTS)}, remainder ${sql.lit(part)}) with (${STORAGE})`.execute(trx)
  }
  return space
}

const partOf = ({ id }: Pick<Space, 'id'>, part: number): RawBuilder<unknown> =>
  sql.id(`vectors_${id}_${part}`)

/**
 * Drops the spaces that no agent has used for a day, except the configured one and any that a process may be filling.
 * A day, because a search may still read a space that its agent has just left.
 */
export async function dropUnusedSpaces(db: Db, configured: string | null): Promise<void> {
  await sql`
    update vector_spaces set unused_since = case
      when name = ${configured} or exists (select from agents where vector_space = vector_spaces.name)
        or exists (select from agents where vectors_held_until > now()) then null
      else coalesce(unused_since, now()) end`.execute(db)
  const unused = await db
    .selectFrom('vector_spaces')
    .select('id')
    .where('unused_since', '<', sql<Date>`now() - interval '1 day'`)
    .execute()
  for (const { id } of unused) await db.transaction().execute((trx) => dropSpace(trx, id))
}

export async function dropSpace(trx: Db, id: number): Promise<void> {
  await sql`drop table if exists ${vectorsOf({ id })}`.execute(trx)
  await trx.deleteFrom('vector_spaces').where('id', '=', id).execute()
}

const SAMPLED_TEXTS = 300
const SAMPLED_FROM = 10_000
const MIN_TEXTS = 20
/**
 * Of a hundred pairs of texts from different sources, three are as similar as this. Most of the others have nothing to
 * do with each other, so what is more similar is about the same thing, whatever the similarities of the model look like.
 * A question in another language than its passage is less similar to it than one in the same.
 */
const NEAR_QUANTILE = 0.97

/**
 * Returns the similarity from which a passage of this space counts as evidence; null as long as there are too few
 * vectors to tell.
 */
export async function nearFrom({ db }: { db: Db }, name: string): Promise<number | null> {
  const space = await db
    .selectFrom('vector_spaces')
    .select('near_from')
    .where('name', '=', name)
    .executeTakeFirst()
  return space?.near_from ?? null
}

/**
 * Samples the space again once it has at least twice as many vectors as at the last sampling, up to SAMPLED_FROM. With
 * `isFirst`, it does nothing if the space has been sampled before.
 */
export async function sampleNear(db: Db, name: string, { isFirst = false } = {}): Promise<void> {
  const space = await db
    .selectFrom('vector_spaces')
    .select(['id', 'sampled'])
    .where('name', '=', name)
    .executeTakeFirst()
  if (!space || space.sampled >= (isFirst ? 1 : SAMPLED_FROM)) return
  const wanted = Math.max(MIN_TEXTS, 2 * space.sampled)
  const { rows } = await sql<{ source: string; vector: string; count: number }>`
    with stored as (select source_id, vector from ${vectorsOf(space)} limit ${sql.lit(SAMPLED_FROM)})
    select source_id as source, vector::text as vector, (select count(*) from stored)::int as count from stored
    where (select count(*) from stored) >= ${wanted}::int order by random() limit ${sql.lit(SAMPLED_TEXTS)}`.execute(
    db,
  )
  if (rows.length === 0) return
  const texts = rows.map(({ source, vector }) => ({
    source,
    vector: Float32Array.from<number>(JSON.parse(vector)),
  }))
  const apart = similarities(texts, (one, other) => one.source !== other.source)
  const near = quantile(apart.length < texts.length ? similarities(texts, () => true) : apart, NEAR_QUANTILE)
  await db
    .updateTable('vector_spaces')
    .set({ near_from: near, sampled: rows[0]?.count ?? 0 })
    .where('id', '=', space.id)
    .execute()
}

type Text = { source: string; vector: Float32Array }

function similarities(texts: readonly Text[], isPair: (one: Text, other: Text) => boolean): number[] {
  const found: number[] = []
  for (const [i, one] of texts.entries())
    for (const other of texts.slice(0, i))
      if (isPair(one, other)) found.push(product(one.vector, other.vector))
  return found
}

function product(one: Float32Array, other: Float32Array): number {
  let sum = 0
  for (let i = 0; i < one.length; i++) sum += (one[i] ?? 0) * (other[i] ?? 0)
  return sum
}

const quantile = (values: number[], share: number): number =>
  values.sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))] ?? 1
