import { sql } from 'kysely'
import type { Trx } from '../../platform/db/database.ts'
import { keyIdOf } from '../../platform/secrets/seal.ts'
import { recordOf } from '../../platform/unknown-values.ts'
import type { Line } from './backup-format.ts'

/**
 * Counts what could not be imported: actions that lost their headers, and rows that are useless without their secret.
 */
export type Locked = { actions: number; rows: number }

/** The keys with which this installation decrypts: two during a rotation, none before its first start. */
export async function currentKeyIds(trx: Trx): Promise<string[]> {
  const { rows } = await sql<
    { name: 'secret-check'; value: string } | { name: 'secret-rotation'; value: { from: string; to: string } }
  >`
    select name, value from settings where name in ('secret-check', 'secret-rotation')`.execute(trx)
  return rows.flatMap(({ name, value }) =>
    name === 'secret-check' ? (keyIdOf(value) ?? []) : [value.from, value.to],
  )
}

/**
 * Removes what another key encrypted from the rows. An action is kept, disabled and without its headers; any other row
 * is left out. Without a key, nothing can be decided, and everything is kept.
 */
export function withoutForeignSecrets(
  { table, rows }: Extract<Line, { kind: 'rows' }>,
  keyIds: string[],
  locked: Locked,
): Record<string, unknown>[] {
  return rows.flatMap((row) => {
    if (keyIds.length === 0 || !holdsForeign(row, keyIds)) return [row]
    if (table !== 'actions') {
      locked.rows++
      return []
    }
    locked.actions++
    return [{ ...row, enabled: false, http: { ...recordOf(row.http), headers: {} } }]
  })
}

function holdsForeign(value: unknown, keyIds: string[]): boolean {
  if (typeof value === 'string') {
    const found = keyIdOf(value)
    return found !== null && !keyIds.includes(found)
  }
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((inner) => holdsForeign(inner, keyIds))
}
