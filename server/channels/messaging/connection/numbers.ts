import { sql } from 'kysely'
import { normalPhone } from '../../../contacts/phone-number.ts'
import type { Context } from '../../../context.ts'
import { json } from '../../../db/statements/json.ts'
import type { MessagingNumber } from '../../../db/tables/channels.ts'
import { accountsOf, clientOf, type MessagingAccount } from './connection.ts'
import { ProviderFailure } from './provider-failure.ts'

type Needs = Pick<Context, 'db' | 'fetcher'>
type Options = { signal?: AbortSignal; timeoutMs?: number; retries?: number; longestMs?: number }

/** For the numbers of one account with all pages, tries included. */
const LONGEST_MS = 30_000

/** Only the digits count in comparisons of what people write. */
export const digitsOf = (phone: string): string => phone.replace(/\D/g, '').replace(/^00/, '')

/**
 * Asks the channel for the account's numbers and keeps them, phones in E.164; gives up after half a minute, or when
 * `signal` ends it. Throws ProviderFailure.
 */
export async function refreshNumbers(
  ctx: Needs,
  account: MessagingAccount,
  { signal, longestMs = LONGEST_MS, ...options }: Options = {},
): Promise<MessagingNumber[]> {
  const limit = AbortSignal.timeout(longestMs)
  const client = clientOf(ctx, account, {
    ...options,
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
  })
  const told = await client.numbers(account.businessAccountId)
  const numbers = told.map(({ phone, ...rest }) => ({ ...rest, phone: normalPhone(`+${digitsOf(phone)}`) }))
  await ctx.db
    .updateTable('messaging_accounts')
    .set({ numbers: json(numbers), numbers_read_at: sql<Date>`now()` })
    .where('account_id', '=', account.accountId)
    .where('agent_id', '=', account.agentId)
    .where('business_account_id', '=', account.businessAccountId)
    .execute()
  account.numbers = numbers
  account.numbersReadAt = new Date()
  return numbers
}

/**
 * For the job after a connection was made; the one that failed last makes it be tried again. The accounts do not wait
 * for each other.
 */
export async function readNumbersOf(
  ctx: Needs & Pick<Context, 'secrets'>,
  agentId: string,
  signal?: AbortSignal,
): Promise<void> {
  const accounts = await accountsOf(ctx, agentId)
  const results = await Promise.allSettled(
    accounts.map((account) => refreshNumbers(ctx, account, signal ? { signal } : {})),
  )
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  const [failure] = [...failures.filter((error) => !(error instanceof ProviderFailure)), ...failures]
  if (failure !== undefined) throw failure
}

/** The account that has the number with this id of the channel, as far as is known. */
export const ownerOf = (accounts: MessagingAccount[], numberId: string): MessagingAccount | undefined =>
  accounts.find(({ numbers }) => numbers?.some(({ id }) => id === numberId))
