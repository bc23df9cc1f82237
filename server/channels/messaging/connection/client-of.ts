import type { Context } from '../../../context.ts'
import { recordOf } from '../../../platform/unknown-values.ts'
import type { MessagingAccount } from './connection.ts'
import type { ProviderClient } from './provider-adapter.ts'
import { ProviderFailure } from './provider-failure.ts'
import { recordUse } from './record-use.ts'

type Options = { signal?: AbortSignal; timeoutMs?: number; retries?: number }

/** Returns a client for the account's provider. After each request, it stores whether the account works. */
export function clientOf(
  { db, fetcher }: Pick<Context, 'db' | 'fetcher'>,
  account: MessagingAccount,
  options: Options = {},
): ProviderClient {
  const { adapter, accessToken, baseUrl } = account
  const client = adapter.client({ fetcher, access: { accessToken, baseUrl }, ...options })
  const noting =
    <A extends unknown[], R>(ask: (...args: A) => Promise<R>, { isTest = false } = {}) =>
    async (...args: A): Promise<R> => {
      let answer: R
      try {
        answer = await ask(...args)
      } catch (error) {
        if (error instanceof ProviderFailure && (isTest || error.isOfConnection) && !isGivenUp(options))
          await recordUse(db, account, error.message)
        throw error
      }
      await recordUse(db, account, null)
      return answer
    }
  return {
    numbers: noting(client.numbers, { isTest: true }),
    templates: noting(client.templates),
    sendText: noting(client.sendText),
    sendButton: noting(client.sendButton),
    sendFile: noting(client.sendFile),
    sendTemplate: noting(client.sendTemplate),
    fetchFile: noting(client.fetchFile),
  }
}

/** Whether the service is being stopped, which says nothing about the provider, in contrast to a time limit. */
const isGivenUp = ({ signal }: Options): boolean =>
  signal?.aborted === true && recordOf(signal.reason).name !== 'TimeoutError'
