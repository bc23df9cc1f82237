import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { Context } from '../../../context.ts'
import { ChildProcessFailure } from '../../../platform/child-process/child-process-failure.ts'
import { createFairPlaces } from '../../../platform/concurrency/fair-shares.ts'
import { overloaded } from '../../../platform/http/bodies/admit-bodies.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { type RawRoute, rawRoute } from '../../../platform/http/server/serve-raw.ts'
import type { ConnectionRow } from '../connection/connection.ts'
import { inboundSecretOf } from '../connection/connection.ts'
import { admitLargeBodies } from './large-bodies.ts'
import { takeMail } from './take-mail.ts'
import { MAX_MAIL_BYTES, receiveMail } from './webhook-contract.ts'

/** The most mails that are in memory at once until they are stored, in all and for one account. */
const IN_MEMORY = 4
const IN_MEMORY_OF_ACCOUNT = 2
/**
 * A request is accepted for this long before and after its timestamp. A repetition within that time is recognised by
 * the mail.
 */
const TOLERANCE_SECONDS = 300

/** Refuses mails with SERVICE_OVERLOADED while too many arrive at once. */
export function mailWebhookRoutes(
  ctx: Pick<Context, 'db' | 'filesDir' | 'jobs' | 'mailParser' | 'notifier' | 'secrets' | 'uploads'>,
): RawRoute[] {
  const admit = admitLargeBodies()
  const inMemory = createFairPlaces({ places: IN_MEMORY, share: IN_MEMORY_OF_ACCOUNT })
  return [
    rawRoute(
      receiveMail,
      async ({ params, request }) => {
        const { row, secret, signature } = await requireSigned(ctx, params.agentId, request)
        if (!(request.body instanceof Readable)) throw refused()
        if (Number(request.headers['content-length']) > MAX_MAIL_BYTES)
          throw new ApiError('VALIDATION_BODY_TOO_LARGE')
        const signing = createHmac('sha256', secret).update(`${timestampOf(request)}.`)
        const see = (piece: Buffer) => void signing.update(piece)
        return ctx.uploads.spool(request.body, { maxBytes: MAX_MAIL_BYTES, see }, async (path) => {
          if (!timingSafeEqual(signature, signing.digest())) throw refused()
          if (ctx.mailParser.isFull(row.account_id)) throw overloaded()
          const leave = await inMemory.enter(row.account_id)
          await readFile(path)
            .then((raw) => takeMail(ctx, row, { raw, receivedAt: new Date() }))
            .catch((error: unknown) => {
              throw error instanceof ChildProcessFailure ? overloaded() : error
            })
            .finally(leave)
          return { success: true }
        })
      },
      async ({ params, request, reply }) => {
        await requireSigned(ctx, params.agentId, request)
        admit(request, reply)
      },
    ),
  ]
}

const refused = (): ApiError =>
  new ApiError('WEBHOOK_SIGNATURE_INVALID', {
    message:
      'The request is not signed with the inboundSecret of a connected mailbox, or its time is too far off.',
  })

const timestampOf = ({ headers }: FastifyRequest): string => String(headers['x-timestamp'] ?? '')

type Signed = { row: ConnectionRow; secret: string; signature: Buffer }

/** Checks what can be checked without the body. Every failure is the same error. */
async function requireSigned(
  ctx: Pick<Context, 'db' | 'secrets'>,
  agentId: string,
  request: FastifyRequest,
): Promise<Signed> {
  const timestamp = timestampOf(request)
  const signature = Buffer.from(String(request.headers['x-signature'] ?? ''), 'hex')
  const isNow =
    /^\d+$/.test(timestamp) && Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS
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
