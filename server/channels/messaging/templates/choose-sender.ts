import type { Context } from '../../../context.ts'
import type { MessagingNumber } from '../../../platform/db/tables/channels.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import type { MessagingAccount } from '../connection/connection.ts'
import { digitsOf, refreshNumbers } from '../connection/numbers.ts'
import { ProviderFailure } from '../connection/provider-failure.ts'
import { sendFailed } from '../outbound/send-errors.ts'

export type Sender = { account: MessagingAccount; number: MessagingNumber }

const REFRESH_AFTER_MS = 60_000

/**
 * Returns the connected number that `from` means, in whatever form it is written, or the only one if `from` is
 * absent. Throws PHONE_NUMBER_REQUIRED, PHONE_NUMBER_NOT_FOUND, and MESSAGING_SEND_FAILED while the provider does
 * not return the numbers.
 */
export async function chooseSender(
  ctx: Pick<Context, 'db' | 'fetcher'>,
  accounts: MessagingAccount[],
  from: string | undefined,
): Promise<Sender> {
  const failure = await refresh(
    ctx,
    accounts.filter(({ numbers }) => numbers === null),
  )
  const wanted = from === undefined ? null : digitsOf(from)
  const [found, ...more] = sendersOf(accounts, wanted)
  if (wanted === null && more.length > 0) throw new ApiError('PHONE_NUMBER_REQUIRED')
  if (found && (wanted !== null || !failure)) return found
  // The number may have been added since.
  const old = accounts.filter(
    ({ numbersReadAt }) => Date.now() - (numbersReadAt?.getTime() ?? 0) > REFRESH_AFTER_MS,
  )
  const again = failure ?? (await refresh(ctx, old))
  const [late, ...others] = sendersOf(accounts, wanted)
  if (wanted === null && others.length > 0) throw new ApiError('PHONE_NUMBER_REQUIRED')
  if (late && (wanted !== null || !again)) return late
  if (again) throw sendFailed(again)
  throw new ApiError('PHONE_NUMBER_NOT_FOUND', {
    ...(wanted === null ? { message: 'The connected business accounts have no number.' } : {}),
  })
}

const sendersOf = (accounts: MessagingAccount[], wanted: string | null): Sender[] =>
  accounts.flatMap((account) =>
    (account.numbers ?? [])
      .filter(({ phone }) => wanted === null || digitsOf(phone) === wanted)
      .map((number) => ({ account, number })),
  )

async function refresh(
  ctx: Pick<Context, 'db' | 'fetcher'>,
  accounts: MessagingAccount[],
): Promise<ProviderFailure | null> {
  const results = await Promise.allSettled(
    accounts.map((account) => refreshNumbers(ctx, account, { timeoutMs: 10_000, retries: 1 })),
  )
  let failure: ProviderFailure | null = null
  for (const result of results) {
    if (result.status === 'fulfilled') continue
    if (!(result.reason instanceof ProviderFailure)) throw result.reason
    failure = result.reason
  }
  return failure
}
