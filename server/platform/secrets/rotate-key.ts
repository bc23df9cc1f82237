import type { Db } from '../db/database.ts'
import { lockSetting, writeSetting } from '../db/settings.ts'
import { transact } from '../db/statements/transact.ts'
import { type Rewritten, rewriteSecrets } from './rewrite-secrets.ts'
import { dropRotation, markRewritten, readRotation, writeRotation } from './rotation-row.ts'
import type { SealKey } from './seal.ts'
import { CHECK, CHECK_PLACE, CHECK_TEXT } from './secret-check.ts'
import type { Secrets } from './secrets.ts'

/** Says in one sentence why keys cannot be rotated now. */
export class RotationRefused extends Error {
  override name = 'RotationRefused'
}

/**
 * Rotates the key to `wanted`. From the first step on, both keys are valid and everything new is encrypted with the
 * new one; then the remaining values are re-encrypted. If it is interrupted anywhere, the same call continues.
 * Returns the new key and what was done. Throws RotationRefused.
 */
export async function rotateKey(
  db: Db,
  secrets: Secrets,
  wanted: SealKey,
  isGiven: boolean,
): Promise<Rewritten & { to: SealKey }> {
  const rotation = await transact(db, async (trx) => {
    // A transaction that encrypts a text holds this lock until it ends.
    await lockSetting(trx, CHECK)
    const begun = await readRotation(trx, new Map([[secrets.key.id, secrets.key]]))
    if (begun && isGiven && wanted.id !== begun.to.id && wanted.id !== secrets.key.id)
      throw new RotationRefused(
        'A rotation to another key is in progress: pass that key again, or complete the rotation with "secrets finish".',
      )
    if (begun) return begun
    if (wanted.id === secrets.key.id) throw new RotationRefused('This key is already in use.')
    const next = { from: secrets.key, to: wanted, isRewritten: false }
    await writeRotation(trx, next)
    return next
  })
  const counts = await rewriteSecrets(db, secrets, rotation.to.id)
  await markRewritten(db)
  return { ...counts, to: rotation.to }
}

/** Completes a rotation: from now on only the new key decrypts the database. Throws RotationRefused. */
export async function finishRotation(db: Db, secrets: Secrets): Promise<{ keyId: string }> {
  const known = new Map([[secrets.key.id, secrets.key]])
  const rotation = await readRotation(db, known)
  if (!rotation) throw new RotationRefused('No key rotation is in progress.')
  if (!rotation.isRewritten)
    throw new RotationRefused('Not everything is encrypted with the new key yet: run "secrets rotate" again.')
  await rewriteSecrets(db, secrets, rotation.to.id)
  await transact(db, async (trx) => {
    await writeSetting(trx, CHECK, rotation.to.seal(CHECK_TEXT, CHECK_PLACE))
    await dropRotation(trx)
  })
  return { keyId: rotation.to.id }
}
