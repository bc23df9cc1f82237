import type { Context } from '../../context.ts'
import type { Trx } from '../../platform/db/database.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { Scope } from '../../platform/http/contract.ts'
import { ApiError, invalidField } from '../../platform/http/errors.ts'
import { type Caller, type Route, route } from '../../platform/http/route.ts'
import { recordAudit } from '../audit/audit.ts'
import * as contract from '../contract.ts'
import { dropInvitationsBy } from '../links/links.ts'
import { activeKeysBy, createKey, keysOf, type ListedKey, revokeKey } from './keys.ts'

const presentKey = ({ expiresAt, lastUsedAt, createdAt, ...rest }: ListedKey) => ({
  ...rest,
  expiresAt: expiresAt?.toISOString() ?? null,
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
  createdAt: createdAt.toISOString(),
})

export const keyRoutes = ({ db: plain }: Pick<Context, 'db'>): Route[] => [
  route(contract.listKeys, async ({ caller: { account } }) =>
    (await keysOf(plain, account.id)).map(presentKey),
  ),

  route(contract.createKey, async ({ db, caller, body }) => {
    const { account, actor } = caller
    const expiresAt = body.expiresAt ? new Date(body.expiresAt) : null
    if (expiresAt && expiresAt <= new Date()) throw invalidField('expiresAt', 'Must be in the future.')
    const scopes = body.scopes ?? null
    refuseMore(caller, scopes, expiresAt)
    const { id, key } = await createKey(db, account.id, {
      name: body.name,
      scopes,
      expiresAt,
      createdBy: actor,
    })
    await recordAudit(db, {
      accountId: account.id,
      actor,
      action: 'key.create',
      target: id,
      detail: { scopes, expiresAt: expiresAt?.toISOString() ?? null },
    })
    const made = (await keysOf(db, account.id)).find((one) => one.id === id)
    if (!made) throw new Error('The key that was created no longer exists.')
    return { ...presentKey(made), key }
  }),

  route(contract.revokeKey, async ({ caller: { account, actor }, params: { keyId } }) => {
    await plain.transaction().execute(async (trx) => {
      if (!(await endKey(trx, account.id, actor, keyId)))
        throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The key does not exist.' })
    })
    return { success: true as const }
  }),

  route(contract.revokeKeysBy, async ({ caller: { account, actor }, query: { createdBy } }) => {
    const revoked = await plain.transaction().execute(async (trx) => {
      const ids = await activeKeysBy(trx, account.id, createdBy)
      for (const id of ids) await endKey(trx, account.id, actor, id)
      return ids.length
    })
    return { success: true as const, revoked }
  }),
]

/** Revokes a key together with the open invitations that it has made. Returns false when there is no such key. */
async function endKey(trx: Trx, accountId: AccountId, actor: string, keyId: string): Promise<boolean> {
  if (!(await revokeKey(trx, keyId, accountId))) return false
  await dropInvitationsBy(trx, accountId, `key:${keyId}`)
  await recordAudit(trx, { accountId, actor, action: 'key.revoke', target: keyId })
  return true
}

/** Throws when a key would create a key with more permissions or a later expiry than its own. */
function refuseMore({ key, scopes }: Caller, wanted: Scope[] | null, expiresAt: Date | null): void {
  if (!key) return
  const isMore = scopes !== null && (wanted === null || wanted.some((scope) => !scopes.includes(scope)))
  const isLonger = key.expiresAt !== null && (expiresAt === null || expiresAt > key.expiresAt)
  if (isMore || isLonger)
    throw new ApiError('AUTH_INSUFFICIENT_PERMISSIONS', {
      message: 'A key cannot create a key with more scopes or a later expiry than its own.',
    })
}
