import type { FastifyRequest } from 'fastify'
import { fileTypeFromBuffer } from 'file-type'
import type { Owner } from '../agents/find-agent.ts'
import { type AttachmentRow, keepAttachment, safeName } from '../attachments/attachments.ts'
import type { Context } from '../context.ts'
import type { Db, Trx } from '../db/database.ts'
import { isId } from '../db/ids.ts'
import type { AttachmentNote } from '../db/tables.ts'
import { ApiError, invalidField } from '../http/errors.ts'
import { readMultipart, type Upload } from '../http/read-multipart.ts'
import { refuseInvalid } from '../http/validate.ts'
import type { TicketRow } from './ticket-queries.ts'

/** The one file of an upload. */
export async function readAttachment(
  request: FastifyRequest,
  expected: { file: string; maxBytes: number },
): Promise<Upload> {
  if (!request.isMultipart()) throw new ApiError('VALIDATION_UNSUPPORTED_MEDIA_TYPE')
  const { fields, file, problems } = await readMultipart(request, expected)
  const unknown = Object.keys(fields).map((field) => [field, 'This field is not known here.'])
  refuseInvalid({ ...Object.fromEntries(unknown), ...problems })
  if (!file) throw invalidField(expected.file, 'This field is required.')
  if (file.bytes.byteLength === 0) throw invalidField(expected.file, 'The file is empty.')
  return file
}

/** Keeps a file that a reply will carry. Its type is that of its content, whatever it is called. */
export async function keepUpload(
  { db, filesDir }: Pick<Context, 'db' | 'filesDir'>,
  owner: Owner,
  file: Upload,
): Promise<AttachmentNote> {
  const mediaType = await mediaTypeOf(file.bytes)
  return db
    .transaction()
    .execute((trx) =>
      keepAttachment(filesDir, trx, owner, { name: safeName(file.filename), mediaType, bytes: file.bytes }),
    )
}

/** Text without a signature of its own is text; what is neither is bytes. HTML and SVG are text as well. */
async function mediaTypeOf(bytes: Uint8Array): Promise<string> {
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

/** Gives uploads to a ticket; VALIDATION_INVALID_BODY for those that are not there or were sent before. */
export async function takeUploads(
  trx: Trx,
  ticket: TicketRow,
  ids: readonly string[],
): Promise<AttachmentNote[]> {
  if (ids.length === 0) return []
  const wanted = ids.filter(isId)
  const rows: AttachmentRow[] =
    wanted.length === 0
      ? []
      : await trx
          .updateTable('attachments')
          .set({ ticket_id: ticket.id, conversation_id: ticket.conversation_id })
          .where('account_id', '=', ticket.account_id)
          .where('agent_id', '=', ticket.agent_id)
          .where('id', 'in', wanted)
          .where('ticket_id', 'is', null)
          .where('conversation_id', 'is', null)
          .returningAll()
          .execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  const problem = 'This upload does not exist, or was sent already.'
  refuseInvalid(
    Object.fromEntries(ids.flatMap((id, at) => (byId.has(id) ? [] : [[`attachments.${at}`, problem]]))),
  )
  return ids.map((id) => {
    const { name, media_type, size } = byId.get(id) as AttachmentRow
    return { id, name, type: media_type, size }
  })
}

/** Uploads that nobody has sent for so long were changed for others. */
const FORSAKEN_DAYS = 2

export async function dropForsakenUploads(db: Db): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('attachments')
    .where('ticket_id', 'is', null)
    .where('conversation_id', 'is', null)
    .where('created_at', '<', new Date(Date.now() - FORSAKEN_DAYS * 86_400_000))
    .executeTakeFirst()
  return Number(numDeletedRows)
}
