import { sql } from 'kysely'
import type { Db } from '../db/database.ts'
import { json } from '../db/statements/json.ts'
import { createSealKey, type Place, type SealKey } from './seal.ts'

/** Two keys that are both valid: everything is written with `to`, and `isRewritten` when nothing is left of `from`. */
type Rotation = { from: SealKey; to: SealKey; isRewritten: boolean }

/** Each key is sealed with the other: whoever has one of them has both. */
type Row = { from: string; to: string; fromKey: string; toKey: string; isRewritten: boolean }

const NAME = 'secret-rotation'
const placeOf = (purpose: string): Place => ({ table: 'settings', row: NAME, purpose })

/** The exchange of keys under way, opened with one of the known keys; null when there is none, or none of them opens it. */
export async function readRotation(db: Db, known: ReadonlyMap<string, SealKey>): Promise<Rotation | null> {
  const found = await db.selectFrom('settings').select('value').where('name', '=', NAME).executeTakeFirst()
  if (!found) return null
  const { from, to, fromKey, toKey, isRewritten } = found.value as Row
  const [older, newer] = [known.get(from), known.get(to)]
  if (older && newer) return { from: older, to: newer, isRewritten }
  if (older) return { from: older, to: createSealKey(older.open(toKey, placeOf('to'))), isRewritten }
  if (newer) return { from: createSealKey(newer.open(fromKey, placeOf('from'))), to: newer, isRewritten }
  return null
}

export async function writeRotation(db: Db, { from, to, isRewritten }: Rotation): Promise<void> {
  const row: Row = {
    from: from.id,
    to: to.id,
    fromKey: to.seal(from.secret, placeOf('from')),
    toKey: from.seal(to.secret, placeOf('to')),
    isRewritten,
  }
  await db
    .insertInto('settings')
    .values({ name: NAME, value: json(row) })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet({ value: json(row), updated_at: new Date() }),
    )
    .execute()
}

/** Notes that nothing is left of the old key; nothing happens when the exchange has ended meanwhile. */
export async function markRewritten(db: Db): Promise<void> {
  const value = sql<string>`value || ${json({ isRewritten: true })}`
  await db.updateTable('settings').set({ value, updated_at: new Date() }).where('name', '=', NAME).execute()
}

export async function dropRotation(db: Db): Promise<void> {
  await db.deleteFrom('settings').where('name', '=', NAME).execute()
}
