import { sql } from 'kysely'
import type { Context } from '../../../context.ts'
import { withdrawToken } from './ask-provider.ts'
import { refreshTokenOf } from './connection.ts'
import type { WithdrawPermission } from './withdraw-later.ts'

type Deps = Pick<Context, 'db' | 'fetcher' | 'log' | 'secrets'>

/** Withdraws what a provider has permitted to a mailbox that is no longer connected, if the provider lets us. */
export async function withdrawPermission(ctx: Deps, row: WithdrawPermission): Promise<void> {
  if (!row.oauth?.revocationUrl) return
  try {
    const token = await refreshTokenOf(ctx, row)
    if (token !== null && !(await isStillUsed(ctx, row)))
      await withdrawToken(ctx, row.oauth.revocationUrl, token)
  } catch (error) {
    ctx.log.warn({ err: error, agent: row.agent_id }, 'the permission of a mailbox could not be withdrawn')
  }
}

/**
 * Returns whether another agent, in whichever account, uses the same mailbox with the same client. Providers withdraw
 * all that a person has permitted to a client at once.
 */
async function isStillUsed({ db }: Deps, { oauth, smtp }: WithdrawPermission): Promise<boolean> {
  const { rows } = await sql`
    select from email_connections where oauth_refresh_token is not null
      and oauth ->> 'tokenUrl' = ${oauth?.tokenUrl} and oauth ->> 'clientId' = ${oauth?.clientId}
      and lower(smtp ->> 'username') = ${smtp.username?.toLowerCase() ?? null}
    limit 1`.execute(db)
  return rows.length > 0
}
