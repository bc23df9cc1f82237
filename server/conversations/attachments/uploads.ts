import { fileTypeFromBuffer } from 'file-type'
import type { Context } from '../../context.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AttachmentNote } from '../../platform/db/tables/attachments.ts'
import type { Form, Upload } from '../../platform/http/bodies/uploads.ts'
import { ApiError, invalidField } from '../../platform/http/errors.ts'
import { refuseInvalid } from '../../platform/http/input/validate.ts'
import { quotaProblem } from './attachment-quota.ts'
import { type AttachmentRow, keepAttachment, safeName } from './attachments.ts'

/** The single file of an upload. */
export function attachmentOf(form: Form | null, name: string): Upload {
  if (!form) throw new ApiError('VALIDATION_UNSUPPORTED_MEDIA_TYPE')
  const { fields, file, problems } = form
  const unknown = Object.keys(fields).map((field) => [field, 'This field is not known here.'])
  refuseInvalid({ ...Object.fromEntries(unknown), ...problems })
  if (!file) throw invalidField(name, 'This field is required.')
  if (file.size === 0) throw invalidField(name, 'The file is empty.')
  return file
}

/**
 * Stores an uploaded file for a later message. `sender` identifies the uploader and is null for a team member. The media
 * type is detected from the content, not from the name. Throws ATTACHMENT_LIMIT_EXCEEDED, and what `refuse` throws.
 */
export async function keepUpload(
  { db, filesDir }: Pick<Context, 'db' | 'filesDir'>,
  ref: AgentRef,
  file: Upload,
  sender: string | null,
  refuse: (name: string, mediaType: string, bytes: Buffer) => void = () => {},
): Promise<AttachmentNote> {
  const name = safeName(file.filename)
  const mediaType = await file.whole(async (bytes) => {
    const type = await mediaTypeOf(bytes)
    refuse(name, type, bytes)
    return type
  })
  const kept = { name, mediaType, path: file.path, size: file.size }
  return transact(db, async (trx) => {
    const message = await quotaProblem(trx, ref, file.size, sender)
    if (message !== null) throw new ApiError('ATTACHMENT_LIMIT_EXCEEDED', { message })
    return keepAttachment(filesDir, trx, ref, kept, sender === null ? {} : { sender })
  })
}

/** Text formats have no signature, so valid text is `text/plain`, also HTML and SVG. Everything else is binary. */
export async function mediaTypeOf(bytes: Uint8Array): Promise<string> {
  const found = await fileTypeFromBuffer(bytes)
  if (found) return found.mime
  const start = bytes.subarray(0, 65_536)
  if (start.includes(0)) return 'application/octet-stream'
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true })
    return 'text/plain'
  } catch {
    return 'application/octet-stream'
  }
}

type Taker = { sender: string | null; ticketId: string | null; conversationId: string | null }

/**
 * Attaches uploads of `sender` to the message that is being sent. Throws VALIDATION_INVALID_BODY for uploads that do not
 * exist, were sent before or belong to another sender.
 */
export async function takeUploads(
  trx: Trx,
  ref: AgentRef,
  ids: readonly string[],
  { sender, ticketId, conversationId }: Taker,
): Promise<AttachmentNote[]> {
  if (ids.length === 0) return []
  const wanted = ids.filter(isId)
  const rows: AttachmentRow[] =
    wanted.length === 0
      ? []
      : await trx
          .updateTable('attachments')
          .set({ ticket_id: ticketId, conversation_id: conversationId })
          .where(ofAgent(ref))
          .where('id', 'in', wanted)
          .where('sender', sender === null ? 'is' : '=', sender)
          .where('ticket_id', 'is', null)
          .where('conversation_id', 'is', null)
          .returningAll()
          .execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  const problem = 'This upload does not exist or has already been sent.'
  refuseInvalid(
    Object.fromEntries(ids.flatMap((id, at) => (byId.has(id) ? [] : [[`attachments.${at}`, problem]]))),
  )
  return ids.flatMap((id) => {
    const row = byId.get(id)
    return row ? [{ id, name: row.name, type: row.media_type, size: row.size }] : []
  })
}

/** Uploads that were not sent within this time are deleted. */
const ABANDONED_DAYS = 2

export async function dropAbandonedUploads(db: Db): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('attachments')
    .where('ticket_id', 'is', null)
    .where('conversation_id', 'is', null)
    .where('created_at', '<', new Date(Date.now() - ABANDONED_DAYS * 86_400_000))
    .executeTakeFirst()
  return Number(numDeletedRows)
}
