import { randomBytes } from 'node:crypto'
import type { Db } from '../../../platform/db/database.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import { placeOfRow } from '../../../platform/secrets/sealed-columns.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'

const NAME = 'cookies'
const PLACE = placeOfRow('login_secrets', NAME, 'secret')

/**
 * Returns the secret that signs cookies and encrypts second factors, and creates it on first use. It is separate from
 * the installation's key, so that rotating that key ends no session. If a restore has left the secret out, the second
 * factors can no longer be decrypted and are deleted: their owners sign in with the password and set up new ones.
 */
export async function openLoginSecret(db: Db, secrets: Secrets): Promise<string> {
  return transact(db, async (trx) => {
    const sealed = await secrets.encrypt(trx, randomBytes(32).toString('base64url'), PLACE)
    const made = await trx
      .insertInto('login_secrets')
      .values({ name: NAME, secret: sealed })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst()
    if (Number(made.numInsertedOrUpdatedRows ?? 0) > 0) {
      await trx.deleteFrom('login_second_factors').execute()
      await trx.updateTable('logins').set({ two_factor_enabled: false }).execute()
    }
    const { secret } = await trx
      .selectFrom('login_secrets')
      .select('secret')
      .where('name', '=', NAME)
      .executeTakeFirstOrThrow()
    return secrets.decrypt(secret, PLACE, trx)
  })
}
