import { timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../../context.ts'
import { onBehalfOf } from '../../../db/connections/lanes.ts'
import { ApiError } from '../../../http/errors.ts'
import { renderError } from '../../../http/server/render-error.ts'
import { adapter } from '../connection/adapters.ts'
import { accountsOf, type MessagingAccount } from '../connection/connection.ts'
import { takeWebhook } from './take-webhook.ts'

/** The channel sends up to 3 MB. */
const BODY_LIMIT = 4 * 1_048_576

type Params = { Params: { agentId: string } }

/**
 * `/webhooks/messaging/{agentId}`: no key, but the verify token of one of the agent's accounts to be subscribed, and
 * the signature of one under every body. Answered when all of it is durably stored; anything else is sent again.
 */
export function serveMessagingWebhook(app: FastifyInstance, ctx: Context): void {
  app.register(async (scope) => {
    // The signature covers the raw bytes.
    scope.removeAllContentTypeParsers()
    // The application's own is set later than this scope is made.
    scope.setErrorHandler((error, request, reply) => renderError(error, request, reply, false))
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    const connected = (agentId: string) =>
      agentId.includes('\0') ? [] : onBehalfOf(agentId, () => accountsOf(ctx, agentId))

    scope.get<Params>('/webhooks/messaging/:agentId', async ({ params, query }, reply) => {
      await ctx.maintenance.refuse()
      const asked = adapter.readHandshake(query as Record<string, unknown>)
      const accounts = await connected(params.agentId)
      if (!asked || !accounts.some(({ verifyToken }) => isSame(asked.token, verifyToken)))
        throw new ApiError('WEBHOOK_SIGNATURE_INVALID', {
          message: 'This is not the verify token of a connected account.',
        })
      return reply.type('text/plain; charset=utf-8').send(asked.challenge)
    })

    const admitted = new WeakMap<object, MessagingAccount[]>()
    scope.post<Params>(
      '/webhooks/messaging/:agentId',
      {
        bodyLimit: BODY_LIMIT,
        // Before the body: nobody is read to who has no agent here, or does not sign.
        onRequest: async (request) => {
          await ctx.maintenance.refuse()
          const accounts = await connected((request.params as Params['Params']).agentId)
          if (accounts.length === 0 || !adapter.claimsSignature(request.headers))
            throw new ApiError('WEBHOOK_SIGNATURE_INVALID')
          admitted.set(request.raw, accounts)
        },
      },
      async ({ params, headers, body, raw }, reply) => {
        const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
        const accounts = admitted.get(raw) ?? []
        const signers = accounts.filter(({ appSecret }) => adapter.isSigned(headers, bytes, appSecret))
        if (signers.length === 0) throw new ApiError('WEBHOOK_SIGNATURE_INVALID')
        const { events, dropped } = adapter.readWebhook(parse(bytes), new Date())
        if (dropped > 0)
          ctx.log.warn({ agent: params.agentId, dropped }, 'a webhook with more than the channel sends')
        await takeWebhook(ctx, signers, events)
        return reply.type('text/plain; charset=utf-8').send('ok')
      },
    )
  })
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
