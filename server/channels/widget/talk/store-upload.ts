import type { FastifyRequest } from 'fastify'
import type { Context } from '../../../context.ts'
import { senderOf } from '../../../conversations/attachments/attachment-quota.ts'
import { keepUpload } from '../../../conversations/attachments/uploads.ts'
import { refusalOf } from '../../../conversations/attachments/visitor-files.ts'
import type { AttachmentNote } from '../../../platform/db/tables/attachments.ts'
import type { Upload } from '../../../platform/http/bodies/uploads.ts'
import { ApiError, invalidField } from '../../../platform/http/errors.ts'
import { addressBucket } from '../../../platform/http/limits/rate-limit.ts'
import { tooMany } from '../../../platform/http/server/gate.ts'
import { chatStyles } from '../page/widget-styles.ts'
import type { Visit } from '../visitors/visitor.ts'

/** Counts by IP address, because a visitor can create any number of secrets. */
const UPLOADS = { limit: 30, windowMs: 10 * 60 * 1_000 }

/**
 * Stores a file for the visitor's next message. Throws RESOURCE_NOT_FOUND while the agent accepts no files,
 * RATE_LIMIT_TOO_MANY_REQUESTS, ATTACHMENT_LIMIT_EXCEEDED, and VALIDATION_INVALID_BODY for a type that is not accepted.
 */
export async function storeUpload(
  ctx: Pick<Context, 'db' | 'filesDir' | 'limiter'>,
  visit: Visit,
  file: Upload,
  { ip }: Pick<FastifyRequest, 'ip'>,
): Promise<AttachmentNote> {
  const { agent, browserId } = visit
  if (!chatStyles(agent).showAttachments)
    throw new ApiError('RESOURCE_NOT_FOUND', { message: 'This agent does not accept files from visitors.' })
  const decision = await ctx.limiter.take(`visitor files ${agent.id} ${addressBucket(ip)}`, UPLOADS)
  if (!decision.allowed) throw tooMany(decision, 'Too many files were sent from this address.')
  const owner = { accountId: agent.account_id, agentId: agent.id }
  return keepUpload(ctx, owner, file, senderOf(browserId), refuseKind)
}

function refuseKind(name: string, mediaType: string, bytes: Buffer): void {
  const refusal = refusalOf(name, mediaType, bytes)
  if (refusal !== null) throw invalidField('file', refusal)
}
