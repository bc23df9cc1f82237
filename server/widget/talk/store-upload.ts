import type { FastifyRequest } from 'fastify'
import { senderOf } from '../../attachments/attachment-quota.ts'
import { keepUpload } from '../../attachments/uploads.ts'
import type { Context } from '../../context.ts'
import type { AttachmentNote } from '../../db/tables/attachments.ts'
import type { Upload } from '../../http/bodies/uploads.ts'
import { ApiError, invalidField } from '../../http/errors.ts'
import { addressBucket } from '../../http/limits/address-bucket.ts'
import { tooMany } from '../../http/server/gate.ts'
import { chatStyles } from '../page/looks.ts'
import type { Visit } from '../visitors/visitor.ts'

/** Counts by IP address, because a visitor can create any number of secrets. */
const UPLOADS = { limit: 30, windowMs: 10 * 60 * 1_000 }

/** The accepted media types: documents, images, audio and video, but nothing executable. */
const KINDS =
  /^(image|audio|video)\/|^text\/|^application\/(pdf|rtf|zip|json|xml|x-cfb|vnd\.(openxmlformats-officedocument|oasis\.opendocument)\..*)$/
const RUNNABLE =
  /\.(exe|com|bat|cmd|msi|scr|pif|ps1|vbs?|vbe|jse?|mjs|jar|hta|lnk|reg|wsf|wsh|cpl|dll|sh|app|apk|dmg|iso|html?|xhtml|svg)$/i

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

function refuseKind(name: string, mediaType: string): void {
  if (KINDS.test(mediaType) && !RUNNABLE.test(name)) return
  throw invalidField('file', 'Files of this kind cannot be sent. Send a picture, a PDF, a document or text.')
}
