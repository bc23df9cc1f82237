import { sql } from 'kysely'
import { extendMetadata } from '../../conversations/records/change-message.ts'
import type { HeldOutcome } from '../../conversations/records/present.ts'
import type { Trx } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { Member } from '../team/find-member.ts'
import type { TicketRow } from '../tickets/ticket-queries.ts'
import type { TicketMessageRow } from './add-ticket-message.ts'

/**
 * Records what became of an answer that was held for a person, at its note and at the message that the customer got
 * instead: sent in these words, sent after a change, or discarded (null). What was sent stays sent; what was discarded
 * may still be sent. Needs the lock of the ticket. Throws RESOURCE_NOT_FOUND. Returns the note.
 */
export async function settleHeldAnswer(
  trx: Trx,
  { account_id, id }: Pick<TicketRow, 'account_id' | 'id'>,
  noteId: string,
  by: Pick<Member, 'id' | 'name'>,
  said: string | null,
): Promise<TicketMessageRow> {
  const note = isId(noteId)
    ? await trx
        .selectFrom('ticket_messages')
        .selectAll()
        .where('account_id', '=', account_id)
        .where('ticket_id', '=', id)
        .where('id', '=', noteId)
        .executeTakeFirst()
    : undefined
  const held = note?.metadata?.held as { messageId: string; outcome?: HeldOutcome } | undefined
  const wasSent = held?.outcome !== undefined && held.outcome.what !== 'discarded'
  if (!note || !held || (wasSent && said === null))
    throw new ApiError('RESOURCE_NOT_FOUND', {
      message: 'The ticket has no such answer that waits for a person.',
    })
  if (wasSent) return note
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
