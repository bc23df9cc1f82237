import type { Static } from 'typebox'
import type { Context } from '../../../context.ts'
import type { Db } from '../../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../../platform/db/refs.ts'
import type { MessagingNumber } from '../../../platform/db/tables/channels.ts'
import { statusOf } from '../../registry/connection-status.ts'
import type { ConnectionState, ConnectionTest } from '../schema.ts'
import { requireAccounts } from './connection.ts'
import { NO_NUMBER, refreshNumbers } from './numbers.ts'
import { ProviderFailure } from './provider-failure.ts'

/** The time limit is short, because somebody is waiting for the response. */
const PATIENCE = { timeoutMs: 10_000, retries: 0, maxMs: 20_000 }

const presented = (numbers: MessagingNumber[]) =>
  numbers.map(({ phone, verifiedName }) => ({ phone, verifiedName }))

/** Returns the connected business accounts of an agent, without their secrets. */
export async function connectionState(
  db: Db,
  { accountId, agentId }: AgentRef,
): Promise<Static<typeof ConnectionState>> {
  const rows = await db
    .selectFrom('messaging_accounts')
    .select(['business_account_id', 'base_url', 'numbers', 'numbers_read_at', 'error', 'checked_at'])
    .where(ofAgent({ accountId, agentId }))
    .orderBy('position')
    .execute()
  return {
    accounts: rows.map((row) => ({
      businessAccountId: row.business_account_id,
      numbers: row.numbers && presented(row.numbers),
      numbersReadAt: row.numbers_read_at?.toISOString() ?? null,
      lastError: row.error,
      lastCheckedAt: row.checked_at?.toISOString() ?? null,
    })),
    status: statusOf(rows.map(({ error, checked_at }) => ({ error, checkedAt: checked_at }))),
    baseUrl: rows[0]?.base_url ?? null,
    webhookPath: `/webhooks/messaging/${agentId}`,
  }
}

/** Requests the numbers of each account from the provider. Throws MESSAGING_NOT_CONNECTED. */
export async function testConnection(
  ctx: Pick<Context, 'db' | 'secrets' | 'fetcher'>,
  agentId: string,
): Promise<Static<typeof ConnectionTest>['accounts']> {
  const accounts = await requireAccounts(ctx, agentId)
  return Promise.all(
    accounts.map(async (account) => {
      const { businessAccountId } = account
      try {
        const numbers = presented(await refreshNumbers(ctx, account, PATIENCE))
        const error = numbers.length === 0 ? NO_NUMBER : null
        return { businessAccountId, ok: error === null, error, numbers }
      } catch (error) {
        if (!(error instanceof ProviderFailure)) throw error
        return { businessAccountId, ok: false, error: error.message, numbers: [] }
      }
    }),
  )
}
