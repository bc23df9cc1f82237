import type { Context } from '../../../context.ts'
import { type MessagingAccount, requireAccounts } from '../connection/connection.ts'

/** Returns the agent's accounts at providers that have templates. Throws MESSAGING_NOT_CONNECTED. */
export async function templateAccounts(
  ctx: Pick<Context, 'db' | 'secrets'>,
  agentId: string,
): Promise<MessagingAccount[]> {
  const accounts = await requireAccounts(ctx, agentId)
  return accounts.filter(({ adapter }) => adapter.hasTemplates)
}
