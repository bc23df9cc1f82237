import { sql } from 'kysely'
import type { Context } from '../../../context.ts'
import { normalPhone } from '../../../people/records/phone-number.ts'
import { ofAgent } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import type { MessagingNumber } from '../../../platform/db/tables/channels.ts'
import { clientOf } from './client-of.ts'
import { accountsOf, type MessagingAccount } from './connection.ts'
import { ProviderFailure } from './provider-failure.ts'
import { recordUse } from './record-use.ts'

type Deps = Pick<Context, 'db' | 'fetcher'>
type Options = { signal?: AbortSignal; timeoutMs?: number; retries?: number; maxMs?: number }

/** The time limit for the numbers of one account, with all pages and retries. */
const MAX_MS = 30_000

export const NO_NUMBER = 'The business account has no phone number.'

/** Returns the digits. Numbers that people have written are compared by them. */
export const digitsOf = (phone: string): string => phone.replace(/\D/g, '').replace(/^00/, '')

/**
 * Requests the account's numbers from the provider and stores them, with phone numbers in E.164. It gives up after
 * half a minute, or when `signal` is aborted. Throws ProviderFailure.
 */
export async function refreshNumbers(
  ctx: Deps,
  account: MessagingAccount,
  { signal, maxMs = MAX_MS, ...options }: Options = {},
): Promise<MessagingNumber[]> {
  const limit = AbortSignal.timeout(maxMs)
  const client = clientOf(ctx, account, {
    ...options,
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
  })
  const told = await client.numbers(account.businessAccountId)
  const numbers = told.map(({ phone, ...rest }) => ({ ...rest, phone: normalPhone(`+${digitsOf(phone)}`) }))
  await ctx.db
    .updateTable('messaging_accounts')
    .set({ numbers: json(numbers), numbers_read_at: sql<Date>`now()` })
    .where(ofAgent(account))
    .where('business_account_id', '=', account.businessAccountId)
    .execute()
  if (numbers.length === 0) await recordUse(ctx.db, account, NO_NUMBER)
  account.numbers = numbers
  account.numbersReadAt = new Date()
  return numbers
}

/**
 * Requests the numbers of all accounts at once, for the job after a connection. It throws the last failure, so that
 * the job is retried.
 */
export async function readNumbersOf(
  ctx: Deps & Pick<Context, 'secrets'>,
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

/** Returns the account that is known to have the number with this id of the provider. */
export const ownerOf = (accounts: MessagingAccount[], numberId: string): MessagingAccount | undefined =>
  accounts.find(({ numbers }) => numbers?.some(({ id }) => id === numberId))
