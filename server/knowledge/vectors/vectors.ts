import { type SqlBool, sql } from 'kysely'
import { shortened } from '../../ai/embeddings/normalised.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { asText, ensureSpace, findSpace, listSpaces, type Space, vectorsOf } from './spaces.ts'

type NewVector = { source_id: string; vector_key: string; vector: Float32Array }
type Owner = { account_id: AccountId; agent_id: string }
type Source = Owner & { id: string }

/** True for a chunk without a vector in the space. */
export const lacksVector = (space: Space) =>
  sql<SqlBool>`not exists (select from ${vectorsOf(space)} as v where v.account_id = chunks.account_id
    and v.agent_id = chunks.agent_id and v.source_id = chunks.source_id and v.vector_key = chunks.vector_key)`

/** Returns which of the keys have a vector in the space. */
export async function storedKeys(
  db: Db,
  space: Space,
  { account_id, agent_id, id }: Source,
  keys: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    select vector_key as key from ${vectorsOf(space)} where account_id = ${account_id} and agent_id = ${agent_id}
      and source_id = ${id} and vector_key = any(${keys}::text[])`.execute(db)
  return rows.map(({ key }) => key)
}

/**
 * Stores vectors that do not exist yet, except those of a source that has been deleted meanwhile. Returns false where
 * the database cannot store any. Throws SpaceRefused.
 */
export async function storeVectors(
  db: Db,
  owner: Owner,
  space: string,
  vectors: readonly NewVector[],
): Promise<boolean> {
  const [first] = vectors
  if (!first) return true
  const made = await ensureSpace(db, space, first.vector.length)
  if (made) await db.transaction().execute((trx) => insertVectors(trx, owner, made, vectors))
  return made !== null
}

async function insertVectors(
  trx: Trx,
  { account_id, agent_id }: Owner,
  space: Space,
  vectors: readonly NewVector[],
): Promise<void> {
  // Whoever deletes a source deletes its vectors afterwards, so they must not come later.
  const sources = await trx
    .selectFrom('sources')
    .select('id')
    .where('account_id', '=', account_id)
    .where('agent_id', '=', agent_id)
    .where('id', 'in', [...new Set(vectors.map(({ source_id }) => source_id))])
    .orderBy('id')
    .forKeyShare()
    .execute()
  const there = new Set(sources.map(({ id }) => id))
  const rows = vectors
    .filter(({ source_id }) => there.has(source_id))
    // Whoever adds the same vectors at the same time does so in the same order.
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  if (rows.length === 0) return
  const values = rows.map(
    ({ source_id, vector_key, vector }) =>
      sql`(${account_id}, ${agent_id}, ${source_id}, ${vector_key}, ${asText(vector)})`,
  )
  await sql`
    insert into ${vectorsOf(space)} (account_id, agent_id, source_id, vector_key, vector)
    values ${sql.join(values)} on conflict do nothing`.execute(trx)
}

const keyOf = ({ source_id, vector_key }: NewVector): string => `${source_id} ${vector_key}`

/** Deletes the vectors that no chunk of the source needs any more. No chunks may be added at the same time. */
export async function dropUnusedVectors(trx: Trx, { id, account_id, agent_id }: Source): Promise<void> {
  for (const space of await listSpaces(trx)) {
    await sql`
      delete from ${vectorsOf(space)}
      where account_id = ${account_id} and agent_id = ${agent_id} and source_id = ${id}
        and vector_key not in (
          select vector_key from chunks where account_id = ${account_id} and source_id = ${id})`.execute(trx)
  }
}

/** Copies all vectors of a source to another one. */
export async function copyVectors(
  trx: Trx,
  from: Source,
  to: { id: string; agentId: string },
): Promise<void> {
  for (const space of await listSpaces(trx)) {
    await sql`
      insert into ${vectorsOf(space)} (account_id, agent_id, source_id, vector_key, vector)
      select account_id, ${to.agentId}, ${to.id}::uuid, vector_key, vector from ${vectorsOf(space)}
      where account_id = ${from.account_id} and agent_id = ${from.agent_id} and source_id = ${from.id}`.execute(
      trx,
    )
  }
  await sql`
    insert into chunk_vectors (source_id, space, vector_key, account_id, agent_id, vector)
    select ${to.id}, space, vector_key, account_id, ${to.agentId}, vector
    from chunk_vectors where account_id = ${from.account_id} and source_id = ${from.id}`.execute(trx)
}

/** Deletes up to `limit` vectors of a source in each space, so fewer than that in any means that none is left. */
export async function deleteVectors(
  db: Db,
  { id, account_id, agent_id }: Source,
  limit: number | null = null,
): Promise<number> {
  let most = 0
  for (const space of await listSpaces(db)) {
    const { numAffectedRows } = await sql`
      delete from ${vectorsOf(space)}
      where account_id = ${account_id} and agent_id = ${agent_id} and source_id = ${id} and vector_key in (
        select vector_key from ${vectorsOf(space)}
        where account_id = ${account_id} and agent_id = ${agent_id} and source_id = ${id}
        limit ${limit})`.execute(db)
    most = Math.max(most, Number(numAffectedRows ?? 0))
  }
  return most
}

/** Deletes up to `limit` vectors of an agent that is gone in each space. Returns the most of one space. */
export async function deleteVectorsOfAgent(
  db: Db,
  agentId: string,
  limit: number | null = null,
): Promise<number> {
  let most = 0
  for (const space of await listSpaces(db)) {
    const { numAffectedRows } = await sql`
      delete from ${vectorsOf(space)} where agent_id = ${agentId} and (source_id, vector_key) in (
        select source_id, vector_key from ${vectorsOf(space)} where agent_id = ${agentId} limit ${limit})`.execute(
      db,
    )
    most = Math.max(most, Number(numAffectedRows ?? 0))
  }
  return most
}

const MOVED_AT_ONCE = 200

/**
 * Moves vectors of a former version, which stored them as bytes, to the table of their space. Each step moves some in a
 * transaction. Returns how many it moved; 0 when none is left. Throws SpaceRefused.
 */
export async function moveFormerVectors(
  db: Db,
  { account_id, agent_id }: Owner,
  space: string,
  longest: number | null,
): Promise<number> {
  const known = await findSpace(db, space)
  const { rows } = await sql<{ source_id: string; vector_key: string; bytes: string }>`
    select source_id, vector_key, encode(vector, 'base64') as bytes from chunk_vectors
    where account_id = ${account_id} and agent_id = ${agent_id} and space = ${space}
    limit ${sql.lit(MOVED_AT_ONCE)}`.execute(db)
  if (rows.length === 0) return 0
  const limit = known?.dimensions ?? longest
  const vectors = rows.map(({ source_id, vector_key, bytes }) => ({
    source_id,
    vector_key,
    vector: shortened(vectorOfBytes(bytes), limit),
  }))
  const made = await ensureSpace(db, space, vectors[0]?.vector.length ?? 0)
  if (!made) return 0
  const fitting = vectors.filter(({ vector }) => vector.length === made.dimensions)
  await db.transaction().execute(async (trx) => {
    if (fitting.length > 0) await insertVectors(trx, { account_id, agent_id }, made, fitting)
    await sql`
      delete from chunk_vectors using unnest(${rows.map((row) => row.source_id)}::uuid[],
        ${rows.map((row) => row.vector_key)}::text[]) as moved (source_id, vector_key)
      where chunk_vectors.account_id = ${account_id} and chunk_vectors.space = ${space}
        and chunk_vectors.source_id = moved.source_id and chunk_vectors.vector_key = moved.vector_key`.execute(
      trx,
    )
  })
  return rows.length
}

/** Parses bytes as the database encodes them: base64, with line ends. */
function vectorOfBytes(base64: string): Float32Array {
  // The bytes are copied, because a small buffer is part of a larger one and need not begin at a multiple of four.
  return new Float32Array(Uint8Array.from(Buffer.from(base64, 'base64')).buffer)
}

/** Deletes vectors of a former version that the agent does not need any more, in pieces. */
export async function dropFormerVectors(db: Db, { account_id, agent_id }: Owner): Promise<void> {
  for (;;) {
    const { numAffectedRows } = await sql`
      delete from chunk_vectors where ctid in (
        select ctid from chunk_vectors where account_id = ${account_id} and agent_id = ${agent_id}
        limit 500 for update skip locked)`.execute(db)
    if (Number(numAffectedRows ?? 0) < 500) return
  }
}
