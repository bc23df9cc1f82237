import { sql } from 'kysely'
import type { Trx } from '../db/database.ts'
import type { Line } from './backup-format.ts'

/** What could not come along: actions that lost their headers, and rows that are nothing without their secret. */
export type Locked = { actions: number; rows: number }

/** An encrypted text as server/secrets writes it. */
const ENCRYPTED = /^v1:([\w-]{8}):[\w-]+:[\w-]+:[\w-]*$/

/** The key that this installation encrypts with; null before its first start. */
export async function currentKeyId(trx: Trx): Promise<string | null> {
  const { rows } = await sql<{
    value: unknown
  }>`select value from settings where name = 'secret-check'`.execute(trx)
  return ENCRYPTED.exec(String(rows[0]?.value))?.[1] ?? null
}

/**
 * The rows without what another key encrypted. An action is kept, switched off and without its headers; any
 * other row is left out. With no key yet nothing can be told, and everything is kept.
 */
export function withoutForeignSecrets(
  { table, rows }: Extract<Line, { kind: 'rows' }>,
  keyId: string | null,
  locked: Locked,
): Record<string, unknown>[] {
  return rows.flatMap((row) => {
    if (keyId === null || !holdsForeign(row, keyId)) return [row]
    if (table !== 'actions') {
      locked.rows++
      return []
    }
    locked.actions++
    return [{ ...row, enabled: false, http: { ...(row.http as object), headers: {} } }]
  })
}

function holdsForeign(value: unknown, keyId: string): boolean {
  if (typeof value === 'string') {
    const found = ENCRYPTED.exec(value)
    return found !== null && found[1] !== keyId
  }
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((inner) => holdsForeign(inner, keyId))
}
