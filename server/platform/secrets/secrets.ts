import type { Db } from '../db/database.ts'
import { readRotation } from './rotation-row.ts'
import { keyIdOf, type SealKey, type SecretLocation } from './seal.ts'
import { CHECK } from './secret-check.ts'

/** Encrypts what the database must not reveal: credentials of providers and channels, and headers of actions. */
export type Secrets = {
  /** The key with which this process was started. */
  key: SealKey
  /**
   * Encrypts a text with the key of the installation, which does not change before the transaction has ended. `trx`
   * writes the text to its place.
   */
  encrypt(trx: Db, text: string, place: SecretLocation): Promise<string>
  /**
   * Decrypts a text. Throws when the text was changed or moved, or was encrypted with a key that this installation
   * does not have. `within` is the caller's transaction, if there is one.
   */
  decrypt(text: string, place: SecretLocation, within?: Db): Promise<string>
}

/**
 * Creates the encryption with the key of this process. During a rotation, the second key comes from the database
 * (rotate-key.ts).
 */
export function createSecrets(db: Db, key: SealKey): Secrets {
  const known = new Map([[key.id, key]])

  async function learn(from: Db): Promise<SealKey | null> {
    const rotation = await readRotation(from, known)
    if (!rotation) return null
    for (const each of [rotation.from, rotation.to]) known.set(each.id, each)
    return rotation.to
  }

  return {
    key,
    async encrypt(trx, text, place) {
      // A rotation begins by locking this row, so it waits for everything that is being encrypted with the old key.
      const check = await trx
        .selectFrom('settings')
        .select('value')
        .where('name', '=', CHECK)
        .forShare()
        .executeTakeFirst()
      const current = (await learn(trx)) ?? known.get(keyIdOf(String(check?.value)) ?? '')
      if (!current)
        throw new Error('The secret key has been replaced: restart this process with the new one.')
      return current.seal(text, place)
    },
    async decrypt(text, place, within = db) {
      const keyId = keyIdOf(text)
      if (keyId !== null && !known.has(keyId)) await learn(within)
      const opener = known.get(keyId ?? '')
      if (!opener) throw new Error('The encrypted text belongs to another key or is damaged.')
      return opener.open(text, place)
    },
  }
}
