import { sql } from 'kysely'
import { extendMetadata } from '../../conversations/records/change-message.ts'
import type { HeldOutcome } from '../../conversations/records/present.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { Member } from '../team/find-member.ts'
import type { TicketRow } from '../tickets/ticket-queries.ts'
import type { TicketMessageRow } from './add-ticket-message.ts'

type Held = { messageId: string; outcome?: HeldOutcome }

/**
 * Returns the note of an answer that is held for a person and was not sent, with what it holds. Throws
 * RESOURCE_NOT_FOUND.
 */
export async function requireHeldAnswer(
  db: Db,
  { account_id, id }: Pick<TicketRow, 'account_id' | 'id'>,
  noteId: string,
): Promise<{ note: TicketMessageRow; held: Held }> {
  const note = isId(noteId)
    ? await db
        .selectFrom('ticket_messages')
        .selectAll()
        .where('account_id', '=', account_id)
        .where('ticket_id', '=', id)
        .where('id', '=', noteId)
        .executeTakeFirst()
    : undefined
  const held = note?.metadata?.held as Held | undefined
  if (!note || !held)
    throw new ApiError('RESOURCE_NOT_FOUND', {
      message: 'The ticket has no such answer that waits for a person.',
    })
  if (held.outcome && held.outcome.what !== 'discarded')
    throw new ApiError('RESOURCE_NOT_FOUND', {
      message: `The answer no longer waits for a person: ${held.outcome.by.name} has sent it. Read the ticket; what is still to say is a reply of its own.`,
    })
  return { note, held }
}

/**
 * Records what became of an answer that was held for a person, at its note and at the message that the customer got
 * instead: sent in these words, sent after a change, or discarded (null). What was sent is neither discarded nor sent
 * again; what was discarded may still be sent. Needs the lock of the ticket. Throws RESOURCE_NOT_FOUND. Returns the note.
 */
export async function settleHeldAnswer(
  trx: Trx,
  ticket: Pick<TicketRow, 'account_id' | 'id'>,
  noteId: string,
  by: Pick<Member, 'id' | 'name'>,
  said: string | null,
): Promise<TicketMessageRow> {
  const { account_id } = ticket
  const { note, held } = await requireHeldAnswer(trx, ticket, noteId)
  const isSame = said?.trim() === note.content_text?.trim()
  const outcome: HeldOutcome = {
    what: said === null ? 'discarded' : isSame ? 'sent' : 'changed',
    by: { id: by.id, name: by.name },
    at: new Date().toISOString(),
  }
  await extendMetadata(trx, account_id, [held.messageId], { heldOutcome: outcome })
  return trx
    .updateTable('ticket_messages')
    .set({ metadata: sql`metadata || ${json({ held: { ...held, outcome } })}::jsonb` })
    .where('account_id', '=', account_id)
    .where('id', '=', note.id)
    .returningAll()
    .executeTakeFirstOrThrow()
}
