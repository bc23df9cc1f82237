import type { Selectable } from 'kysely'
import type { Trx } from '../../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../../platform/db/refs.ts'
import type { EmailConnectionsTable } from '../../../platform/db/tables/channels.ts'
import type { Jobs } from '../../../platform/jobs/jobs.ts'

export const WITHDRAW_PERMISSION = 'withdraw-mail-permission'
/** What is needed of a connection that is gone. The token is encrypted as it was in the row. */
export type WithdrawPermission = Pick<
  Selectable<EmailConnectionsTable>,
  'agent_id' | 'oauth' | 'oauth_refresh_token' | 'smtp'
>

/** Disconnects the mailbox of an agent in the transaction that deletes the agent, and queues the withdrawal. */
export async function withdrawLater(
  { jobs }: { jobs: Pick<Jobs, 'enqueue'> },
  trx: Trx,
  agent: AgentRef,
): Promise<void> {
  const row = await trx
    .deleteFrom('email_connections')
    .where(ofAgent(agent))
    .returning(['agent_id', 'oauth', 'oauth_refresh_token', 'smtp'])
    .executeTakeFirst()
  if (row) await enqueueWithdrawal(jobs, trx, row)
}

/** Queues the revocation of a mailbox's OAuth grant, in the transaction that deletes its connection. */
export async function enqueueWithdrawal(
  jobs: Pick<Jobs, 'enqueue'>,
  trx: Trx,
  { agent_id, oauth, oauth_refresh_token, smtp }: WithdrawPermission,
): Promise<void> {
  if (oauth?.revocationUrl && oauth_refresh_token !== null)
    await jobs.enqueue<WithdrawPermission>(trx, WITHDRAW_PERMISSION, {
      agent_id,
      oauth,
      oauth_refresh_token,
      smtp,
    })
}
