import { sql } from 'kysely'
import type { Db } from '../db/database.ts'
import { sealedColumns } from './sealed-columns.ts'

/** The columns with encrypted texts, as expressions by table. The headers of actions are inside a column. */
const TEXTS: [table: string, texts: string][] = [
  ['actions', `(http -> 'headers')::text`],
  ...sealedColumns.map(({ table, columns }): [string, string] => [
    table,
    `concat_ws(' ', ${columns.join(', ')})`,
  ]),
]
/** Matches text that seal.ts has encrypted with a key other than these. */
const foreignTo = (keyIds: string[]): string =>
  `v[12]:(?!(?:${keyIds.join('|')}):)[A-Za-z0-9_-]{8}:[A-Za-z0-9_-]+:`

/** Returns the number of rows with a text that was encrypted with another key than these. */
export async function countForeignRows(db: Db, keyIds: string[]): Promise<number> {
  const counts = TEXTS.map(
    ([table, texts]) => sql`
      select count(*)::int as n from ${sql.table(table)}
      where ${sql.raw(texts)} ~ ${foreignTo(keyIds)}`,
  )
  const { rows } = await sql<{ n: number }>`
    select sum(n)::int as n from (${sql.join(counts, sql` union all `)}) as counted`.execute(db)
  return rows[0]?.n ?? 0
}
