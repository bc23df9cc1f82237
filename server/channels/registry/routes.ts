import type { Context } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import type { AgentRef } from '../../db/refs.ts'
import { type Route, route } from '../../http/route.ts'
import { listChannels } from './contract.ts'

export const channelRoutes = (ctx: Context): Route[] => [
  route(listChannels, async ({ ref }) => connectedChannels(ctx.db, ref)),
]

async function connectedChannels(db: Db, { accountId, agentId }: AgentRef) {
  const mailbox = await db
    .selectFrom('email_connections')
    .select('address')
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
    .executeTakeFirst()
  const { accounts } = await db
    .selectFrom('messaging_accounts')
    .select(({ fn }) => fn.countAll().as('accounts'))
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
    .executeTakeFirstOrThrow()
  return { email: mailbox ?? null, messaging: Number(accounts) > 0 ? { accounts: Number(accounts) } : null }
}
