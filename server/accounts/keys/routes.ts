import type { Context } from '../../context.ts'
import type { Scope } from '../../http/contract.ts'
import { ApiError, invalidField } from '../../http/errors.ts'
import { type Caller, type Route, route } from '../../http/route.ts'
import { recordAudit } from '../audit/audit.ts'
import * as contract from '../contract.ts'
import { dropInvitationsBy } from '../links/links.ts'
import { createKey, keysOf, type ListedKey, revokeKey } from './keys.ts'

const presentKey = ({ expiresAt, lastUsedAt, createdAt, ...rest }: ListedKey) => ({
  ...rest,
  expiresAt: expiresAt?.toISOString() ?? null,
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
  createdAt: createdAt.toISOString(),
})

export const keyRoutes = ({ db: plain }: Context): Route[] => [
  route(contract.listKeys, async ({ caller: { account } }) =>
    (await keysOf(plain, account.id)).map(presentKey),
  ),

  route(contract.createKey, async ({ db, caller, body }) => {
    const { account, actor } = caller
    const expiresAt = body.expiresAt ? new Date(body.expiresAt) : null
    if (expiresAt && expiresAt <= new Date()) throw invalidField('expiresAt', 'Must be in the future.')
    const scopes = body.scopes ?? null
    refuseMore(caller, scopes, expiresAt)
    const { id, key } = await createKey(db, account.id, { name: body.name, scopes, expiresAt })
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
      if (!(await revokeKey(trx, keyId, account.id)))
        throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The key does not exist.' })
      await dropInvitationsBy(trx, account.id, `key:${keyId}`)
      await recordAudit(trx, { accountId: account.id, actor, action: 'key.revoke', target: keyId })
    })
    return { success: true as const }
  }),
]

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
