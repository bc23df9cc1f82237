import type { Db } from '../db/database.ts'
import { dropSetting, extendSetting, readSetting, writeSetting } from '../db/settings.ts'
import { createSealKey, type Place, type SealKey } from './seal.ts'

/** Two keys that are both valid: everything is written with `to`, and `isRewritten` when nothing is left of `from`. */
type Rotation = { from: SealKey; to: SealKey; isRewritten: boolean }

/** Each key is sealed with the other: whoever has one of them has both. */
type Row = { from: string; to: string; fromKey: string; toKey: string; isRewritten: boolean }

const NAME = 'secret-rotation'
const placeOf = (purpose: string): Place => ({ table: 'settings', row: NAME, purpose })

/** The exchange of keys under way, opened with one of the known keys; null when there is none, or none of them opens it. */
export async function readRotation(db: Db, known: ReadonlyMap<string, SealKey>): Promise<Rotation | null> {
  const found = await readSetting(db, NAME)
  if (found === undefined) return null
  const { from, to, fromKey, toKey, isRewritten } = found as Row
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
  await writeSetting(db, NAME, row)
}

/** Notes that nothing is left of the old key; nothing happens when the exchange has ended meanwhile. */
export async function markRewritten(db: Db): Promise<void> {
  await extendSetting(db, NAME, { isRewritten: true })
}

export async function dropRotation(db: Db): Promise<void> {
  await dropSetting(db, NAME)
}
