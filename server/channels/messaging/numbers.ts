import { sql } from 'kysely'
import { normalPhone } from '../../contacts/phone-number.ts'
import type { Context } from '../../context.ts'
import { json } from '../../db/json.ts'
import type { MessagingNumber } from '../../db/tables.ts'
import { accountsOf, clientOf, type MessagingAccount } from './connection.ts'
import { ProviderFailure } from './provider-failure.ts'

type Needs = Pick<Context, 'db' | 'fetcher'>
type Options = { timeoutMs?: number; retries?: number }

/** Only the digits count in comparisons of what people write. */
export const digitsOf = (phone: string): string => phone.replace(/\D/g, '').replace(/^00/, '')

/** Asks the channel for the account's numbers and keeps them, phones in E.164. Throws ProviderFailure. */
export async function refreshNumbers(
  ctx: Needs,
  account: MessagingAccount,
  options: Options = {},
): Promise<MessagingNumber[]> {
  const told = await clientOf(ctx, account, options).numbers(account.businessAccountId)
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

/** For the job after a connection was made; the one that failed last makes it be tried again. */
export async function readNumbersOf(ctx: Needs & Pick<Context, 'secrets'>, agentId: string): Promise<void> {
  let failure: unknown
  for (const account of await accountsOf(ctx, agentId)) {
    await refreshNumbers(ctx, account).catch((error: unknown) => {
      if (!(error instanceof ProviderFailure)) throw error
      failure = error
    })
  }
  if (failure !== undefined) throw failure
}

/** The account that has the number with this id of the channel, as far as is known. */
export const ownerOf = (accounts: MessagingAccount[], numberId: string): MessagingAccount | undefined =>
  accounts.find(({ numbers }) => numbers?.some(({ id }) => id === numberId))
