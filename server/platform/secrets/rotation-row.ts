import type { Db } from '../db/database.ts'
import { dropSetting, extendSetting, readSetting, writeSetting } from '../db/settings.ts'
import { createSealKey, type SealKey, type SecretLocation } from './seal.ts'

/**
 * Two keys that are both valid: everything is encrypted with `to`, and `isRewritten` is set when nothing is encrypted
 * with `from` any more.
 */
type Rotation = { from: SealKey; to: SealKey; isRewritten: boolean }

/** Each key is encrypted with the other, so a process with either has both. */
type Row = { from: string; to: string; fromKey: string; toKey: string; isRewritten: boolean }

const NAME = 'secret-rotation'
const placeOf = (purpose: string): SecretLocation => ({ table: 'settings', row: NAME, purpose })

/**
 * Returns the rotation in progress, decrypted with one of the known keys; null when there is none, or none of the
 * keys decrypts it.
 */
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

/**
 * Records that nothing is encrypted with the old key any more. Does nothing when the rotation has ended meanwhile.
 */
export async function markRewritten(db: Db): Promise<void> {
  await extendSetting(db, NAME, { isRewritten: true })
}

export async function dropRotation(db: Db): Promise<void> {
  await dropSetting(db, NAME)
}
