import { timingSafeEqual } from 'node:crypto'
import type { Context } from '../../../context.ts'
import { withTenant } from '../../../platform/db/connections/lanes.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { originOf } from '../../../platform/http/server/own-origin.ts'
import { type RawRoute, rawRoute } from '../../../platform/http/server/serve-raw.ts'
import { accountsOf, type MessagingAccount } from '../connection/connection.ts'
import { takeWebhook } from './take-webhook.ts'
import { receiveMessagingWebhook, verifyMessagingWebhook } from './webhook-contract.ts'

/** The webhook is confirmed when all of it is durably stored. Otherwise the provider sends it again. */
export function messagingWebhookRoutes(
  ctx: Pick<Context, 'config' | 'db' | 'fetcher' | 'generations' | 'jobs' | 'log' | 'notifier' | 'secrets'>,
): RawRoute[] {
  const connected = (agentId: string) =>
    agentId.includes('\0') ? [] : withTenant(agentId, () => accountsOf(ctx, agentId))
  const admitted = new WeakMap<object, MessagingAccount[]>()
  return [
    rawRoute(verifyMessagingWebhook, async ({ params, query, reply }) => {
      const accounts = await connected(params.agentId)
      const asked = accounts
        .map(({ adapter, verifyToken }) => ({ verifyToken, handshake: adapter.readHandshake(query) }))
        .find(({ verifyToken, handshake }) => handshake && isSame(handshake.token, verifyToken))
      if (!asked?.handshake)
        throw new ApiError('WEBHOOK_SIGNATURE_INVALID', {
          message: 'This is not the verify token of a connected account.',
        })
      return reply.type('text/plain; charset=utf-8').send(asked.handshake.challenge)
    }),
    rawRoute(
      receiveMessagingWebhook,
      async ({ params, request: { url, headers, body, raw }, reply }) => {
        const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
        const accounts = admitted.get(raw) ?? []
        const signed = { url: `${originOf(ctx.config)}${url}`, headers, body: bytes }
        const signers = accounts.filter(({ adapter, appSecret }) => adapter.isSigned(signed, appSecret))
        const [signer] = signers
        if (!signer) throw new ApiError('WEBHOOK_SIGNATURE_INVALID')
        const { events, dropped } = signer.adapter.readWebhook(parse(bytes), new Date())
        if (dropped > 0)
          ctx.log.warn(
            { agent: params.agentId, dropped },
            'a webhook contained more than its provider ever sends',
          )
        await takeWebhook(ctx, signers, events)
        return reply.type('text/plain; charset=utf-8').send('ok')
      },
      async ({ params, request: { headers, raw } }) => {
        const accounts = await connected(params.agentId)
        if (!accounts.some(({ adapter }) => adapter.claimsSignature(headers)))
          throw new ApiError('WEBHOOK_SIGNATURE_INVALID')
        admitted.set(raw, accounts)
      },
    ),
  ]
}

/** Compares two strings in constant time. */
function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (error) {
    throw new ApiError('VALIDATION_INVALID_JSON', { cause: error })
  }
}
