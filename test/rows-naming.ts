import { sql } from 'kysely'
import type { Db } from '../server/platform/db/database.ts'

/** Returns the rows of all tables, including the job queue's, that belong to the account and contain the text. */
export async function rowsNaming(db: Db, accountId: string, text: string): Promise<string[]> {
  const { rows: tables } = await sql<{ name: string }>`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`.execute(db)
  const found: string[] = []
  for (const { name } of tables) {
    const { rows } = await sql<{ row: string }>`
      select t::text as row from ${sql.raw(name)} as t
      where t::text ilike ${`%${text}%`} and t::text like ${`%${accountId}%`}`.execute(db)
    found.push(...rows.map(({ row }) => `${name}: ${row.slice(0, 300)}`))
  }
  return found
}
