import type { Context } from '../../../context.ts'
import { withdrawToken } from './ask-provider.ts'
import { type ConnectionRow, refreshTokenOf } from './connection.ts'

/** Withdraws what a provider has permitted to a mailbox that is no longer connected, if the provider lets us. */
export async function withdrawPermission(
  ctx: Pick<Context, 'fetcher' | 'log' | 'secrets'>,
  row: ConnectionRow,
): Promise<void> {
  const token = await refreshTokenOf(ctx, row)
  if (!row.oauth?.revocationUrl || token === null) return
  await withdrawToken(ctx, row.oauth.revocationUrl, token).catch((error: unknown) =>
    ctx.log.warn({ err: error, agent: row.agent_id }, 'the permission of a mailbox could not be withdrawn'),
  )
}
