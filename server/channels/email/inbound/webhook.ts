import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ApartFailure } from '../../../apart/apart-failure.ts'
import type { Context } from '../../../context.ts'
import { createFairPlaces } from '../../../fairness/fair-places.ts'
import { overloaded } from '../../../http/bodies/admit-bodies.ts'
import { ApiError } from '../../../http/errors.ts'
import { renderError } from '../../../http/server/render-error.ts'
import type { ConnectionRow } from '../connection/connection.ts'
import { inboundSecretOf } from '../connection/connection.ts'
import { admitLargeBodies } from './large-bodies.ts'
import { takeMail } from './take-mail.ts'

/** The size limit of a mail: 25 MB of attachments in their encoded form. */
const LARGEST_BYTES = 40 * 1024 * 1024
/** The most mails in memory at once, until they are stored, in all and for one account. */
const IN_MEMORY = 4
const IN_MEMORY_OF_ACCOUNT = 2
/**
 * A request is accepted for this long before and after its timestamp; a repetition of the mail within that time is
 * recognised.
 */
const TOLERANCE_SECONDS = 300

type Place = { Params: { agentId: string } }

/**
 * POST /webhooks/email/{agentId}: a mail as it came (message/rfc822), from a mail server of the operator or a service
 * that receives mail. `x-timestamp` is in Unix seconds, `x-signature` the hex HMAC-SHA256 of timestamp, a dot and the
 * body with the connection's inboundSecret. Without such a secret nothing is taken; 503 SERVICE_OVERLOADED with
 * Retry-After while too many come at once.
 */
export function serveMailWebhook(app: FastifyInstance, ctx: Context): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.setErrorHandler((error, request, reply) => renderError(error, request, reply, false))
    const types = ['message/rfc822', 'application/octet-stream', 'text/plain']
    scope.addContentTypeParser(types, (_request, body, done) => done(null, body))
    const admit = admitLargeBodies()
    const inMemory = createFairPlaces({ places: IN_MEMORY, share: IN_MEMORY_OF_ACCOUNT })
    scope.post<Place>(
      '/webhooks/email/:agentId',
      {
        config: { spooled: true },
        // Before the body: of nobody without a connection are 40 MB read.
        onRequest: async (request, reply) => {
          await requireSigned(ctx, request as FastifyRequest<Place>)
          admit(request, reply)
        },
      },
      async (request) => {
        const { row, secret, signature } = await requireSigned(ctx, request)
        if (!(request.body instanceof Readable)) throw refused()
        if (Number(request.headers['content-length']) > LARGEST_BYTES)
          throw new ApiError('VALIDATION_BODY_TOO_LARGE')
        const signing = createHmac('sha256', secret).update(`${timestampOf(request)}.`)
        const see = (piece: Buffer) => void signing.update(piece)
        return ctx.uploads.spool(request.body, { maxBytes: LARGEST_BYTES, see }, async (path) => {
          if (!timingSafeEqual(signature, signing.digest())) throw refused()
          if (ctx.mailParser.isFull(row.account_id)) throw overloaded()
          const leave = await inMemory.enter(row.account_id)
          await readFile(path)
            .then((raw) => takeMail(ctx, row, { raw, receivedAt: new Date() }))
            .catch((error: unknown) => {
              throw error instanceof ApartFailure ? overloaded() : error
            })
            .finally(leave)
          return { success: true }
        })
      },
    )
  })
}

const refused = (): ApiError =>
  new ApiError('WEBHOOK_SIGNATURE_INVALID', {
    message:
      'The request is not signed with the inboundSecret of a connected mailbox, or its time is too far off.',
  })

const timestampOf = ({ headers }: FastifyRequest): string => String(headers['x-timestamp'] ?? '')

type Signed = { row: ConnectionRow; secret: string; signature: Buffer }

/** What can be told without the body; one answer for everything that is wrong. */
async function requireSigned(ctx: Context, request: FastifyRequest<Place>): Promise<Signed> {
  await ctx.maintenance.refuse()
  const { agentId } = request.params
  const timestamp = timestampOf(request)
  const signature = Buffer.from(String(request.headers['x-signature'] ?? ''), 'hex')
  const isNow =
    /^\d{1,12}$/.test(timestamp) && Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS
  if (!isNow || signature.length !== 32 || agentId.includes('\0')) throw refused()
  const row = await ctx.db
    .selectFrom('email_connections')
    .selectAll()
    .where('agent_id', '=', agentId)
    .executeTakeFirst()
  const secret = row ? await inboundSecretOf(ctx, row) : null
  if (!row || secret === null) throw refused()
  return { row, secret, signature }
}
