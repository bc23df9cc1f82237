import { sql } from 'kysely'
import { dropSpace, ensureSpace, listSpaces, vectorsOf } from '../../knowledge/vectors/spaces.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { AccountLine, Line } from './backup-format.ts'

/** The name in a backup of all tables with vectors, whose own names differ between installations. */
export const VECTORS = 'vectors'
const PAGE = 200

type Row = { agent_id: string; source_id: string; vector_key: string }
/** `withoutVectors` counts the rows that were left out, because the database has no pgvector. */
type Restored = { rows: number; withoutVectors: number }

/** Yields the vectors of every space as rows, of everything or of one account. */
export async function* vectorPages(trx: Db, account: AccountLine | null): AsyncGenerator<Row[]> {
  for (const space of await listSpaces(trx)) {
    const owned = account ? sql`account_id = ${account.id}` : sql`true`
    for (let last: Row | undefined; ; ) {
      const from: ReturnType<typeof sql> = last
        ? sql`and (agent_id, source_id, vector_key) > (${last.agent_id}, ${last.source_id}::uuid, ${last.vector_key})`
        : sql``
      const found = await sql<{ row: Row }>`
        select to_jsonb(t) || ${json({ space: space.name, dimensions: space.dimensions })} as row
        from ${vectorsOf(space)} as t where ${owned} ${from}
        order by agent_id, source_id, vector_key limit ${sql.lit(PAGE)}`.execute(trx)
      const rows = found.rows.map(({ row }) => row)
      if (rows.length > 0) yield rows
      if (rows.length < PAGE) break
      last = rows.at(-1)
    }
  }
}

/** Adds vectors to their spaces, except those of sources that are not there. Their sources have been added before. */
export async function restoreVectors(trx: Trx, { rows }: Extract<Line, { kind: 'rows' }>): Promise<Restored> {
  const [first]: { space?: unknown; dimensions?: unknown }[] = rows
  const space = await ensureSpace(trx, String(first?.space), Number(first?.dimensions))
  if (!space) return { rows: 0, withoutVectors: rows.length }
  await sql`
    insert into ${vectorsOf(space)} select one.* from jsonb_populate_recordset(null::${vectorsOf(space)}, ${json(rows)}) as one
    join sources on sources.id = one.source_id and sources.agent_id = one.agent_id
      and sources.account_id = one.account_id`.execute(trx)
  return { rows: rows.length, withoutVectors: 0 }
}

/** Agents whose vectors were left out use words alone until their vectors are made again. */
export async function leaveMissingSpaces(trx: Trx): Promise<void> {
  await sql`
    update agents set vector_space = null
    where vector_space is not null and not exists (
        select from vector_spaces where name = agents.vector_space)
      and not exists (select from chunk_vectors where chunk_vectors.agent_id = agents.id)`.execute(trx)
}

export async function dropSpaces(trx: Trx): Promise<void> {
  for (const { id } of await listSpaces(trx)) await dropSpace(trx, id)
}
