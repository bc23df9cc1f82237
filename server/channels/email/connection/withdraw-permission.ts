import { sql } from 'kysely'
import type { Context } from '../../../context.ts'
import type { Trx } from '../../../platform/db/database.ts'
import type { AgentRef } from '../../../platform/db/refs.ts'
import type { Jobs } from '../../../platform/jobs/jobs.ts'
import { withdrawToken } from './ask-provider.ts'
import { type ConnectionRow, deleteConnection, refreshTokenOf } from './connection.ts'

type Deps = Pick<Context, 'db' | 'fetcher' | 'log' | 'secrets'>

export const WITHDRAW_PERMISSION = 'withdraw-mail-permission'
/** What is needed of a connection that is gone. The token is encrypted as it was in the row. */
export type WithdrawPermission = Pick<ConnectionRow, 'agent_id' | 'oauth' | 'oauth_refresh_token' | 'smtp'>

/** Disconnects the mailbox of an agent in the transaction that deletes the agent, and queues the withdrawal. */
export async function withdrawLater(
  { jobs }: { jobs: Pick<Jobs, 'enqueue'> },
  trx: Trx,
  agent: AgentRef,
): Promise<void> {
  const row = await deleteConnection(trx, agent)
  if (!row?.oauth?.revocationUrl) return
  const { agent_id, oauth, oauth_refresh_token, smtp } = row
  await jobs.enqueue<WithdrawPermission>(trx, WITHDRAW_PERMISSION, {
    agent_id,
    oauth,
    oauth_refresh_token,
    smtp,
  })
}

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
