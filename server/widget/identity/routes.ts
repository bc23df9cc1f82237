import { requireOwner } from '../../agents/records/find-agent.ts'
import type { Context } from '../../context.ts'
import { type Route, route } from '../../http/route.ts'
import { deleteIdentitySecret, putIdentitySecret, readIdentitySecret } from './contract.ts'
import { identitySecretSince, removeIdentitySecret, renewIdentitySecret } from './identity-secret.ts'

export const identityRoutes = (ctx: Context): Route[] => [
  route(readIdentitySecret, async ({ caller: { account }, params }) => {
    const owner = await requireOwner(ctx.db, account.id, params)
    const since = await identitySecretSince(ctx.db, owner)
    return { enabled: since !== null, createdAt: since?.toISOString() ?? null }
  }),

  route(putIdentitySecret, async ({ caller: { account }, params }) => {
    const owner = await requireOwner(ctx.db, account.id, params)
    const { secret, createdAt } = await renewIdentitySecret(ctx, owner)
    return { secret, createdAt: createdAt.toISOString() }
  }),

  route(deleteIdentitySecret, async ({ caller: { account }, params }) => {
    await removeIdentitySecret(ctx.db, await requireOwner(ctx.db, account.id, params))
    return { success: true as const }
  }),
]
