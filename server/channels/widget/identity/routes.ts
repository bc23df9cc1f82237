import type { Context } from '../../../context.ts'
import { type Route, route } from '../../../platform/http/route.ts'
import { deleteIdentitySecret, putIdentitySecret, readIdentitySecret } from './contract.ts'
import { identitySecretSince, removeIdentitySecret, renewIdentitySecret } from './identity-secret.ts'

export const identityRoutes = (ctx: Pick<Context, 'db' | 'secrets'>): Route[] => [
  route(readIdentitySecret, async ({ ref }) => {
    const since = await identitySecretSince(ctx.db, ref)
    return { enabled: since !== null, createdAt: since?.toISOString() ?? null }
  }),

  route(putIdentitySecret, async ({ ref }) => {
    const { secret, createdAt } = await renewIdentitySecret(ctx, ref)
    return { secret, createdAt: createdAt.toISOString() }
  }),

  route(deleteIdentitySecret, async ({ ref }) => {
    await removeIdentitySecret(ctx.db, ref)
    return { success: true as const }
  }),
]
