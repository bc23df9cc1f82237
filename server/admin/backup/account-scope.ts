import { sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import { type BackupTable, backupTables } from './backup-tables.ts'

export type ScopedTable = BackupTable & {
  /** The column with the id of the account. */
  owner: 'id' | 'account_id'
}

/** The tables with rows of an account, referenced tables first. */
export async function accountTables(db: Db): Promise<ScopedTable[]> {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'account_id'`.execute(db)
  const owned = new Set(rows.map(({ name }) => name))
  return backupTables.flatMap((table): ScopedTable[] => {
    if (table.name === 'accounts') return [{ ...table, owner: 'id' }]
    return owned.has(table.name) ? [{ ...table, owner: 'account_id' }] : []
  })
}
