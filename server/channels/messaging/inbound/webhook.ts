import { timingSafeEqual } from 'node:crypto'
import type { Context } from '../../../context.ts'
import { onBehalfOf } from '../../../db/connections/lanes.ts'
import { ApiError } from '../../../http/errors.ts'
import { type RawRoute, rawRoute } from '../../../http/server/serve-raw.ts'
import { adapter } from '../connection/adapters.ts'
import { accountsOf, type MessagingAccount } from '../connection/connection.ts'
import { takeWebhook } from './take-webhook.ts'
import { receiveMessagingWebhook, verifyMessagingWebhook } from './webhook-contract.ts'

/** The webhook is confirmed when all of it is durably stored. Otherwise the provider sends it again. */
export function messagingWebhookRoutes(ctx: Context): RawRoute[] {
  const connected = (agentId: string) =>
    agentId.includes('\0') ? [] : onBehalfOf(agentId, () => accountsOf(ctx, agentId))
  const admitted = new WeakMap<object, MessagingAccount[]>()
  return [
    rawRoute(verifyMessagingWebhook, async ({ params, query, reply }) => {
      const asked = adapter.readHandshake(query)
      const accounts = await connected(params.agentId)
      if (!asked || !accounts.some(({ verifyToken }) => isSame(asked.token, verifyToken)))
        throw new ApiError('WEBHOOK_SIGNATURE_INVALID', {
          message: 'This is not the verify token of a connected account.',
        })
      return reply.type('text/plain; charset=utf-8').send(asked.challenge)
    }),
    rawRoute(
      receiveMessagingWebhook,
      async ({ params, request: { headers, body, raw }, reply }) => {
        const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
        const accounts = admitted.get(raw) ?? []
        const signers = accounts.filter(({ appSecret }) => adapter.isSigned(headers, bytes, appSecret))
        if (signers.length === 0) throw new ApiError('WEBHOOK_SIGNATURE_INVALID')
        const { events, dropped } = adapter.readWebhook(parse(bytes), new Date())
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
        if (accounts.length === 0 || !adapter.claimsSignature(headers))
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
