import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import { WIDGET } from '../../conversations/records/queries.ts'
import { ANSWER, type Answer } from '../inbound/process-inbound.ts'

const AT_ONCE = 500

/**
 * Looks for messages of the last day that nobody answers, because a process died with the answer, and enqueues the
 * answer. An open ticket is with the team, and a conversation that is locked is left for the next time. A second job
 * for the same conversation does no harm.
 */
export async function answerForgotten({ db, jobs }: Pick<Context, 'db' | 'jobs'>): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    update conversations set answer_swept_at = now()
    where id in (
      select conversations.id from conversations
      join messages as newest on newest.conversation_id = conversations.id and newest.seq = asked_seq
      where asked_seq > answered_seq and conversations.status = 'ongoing'
        and (conversations.thread_id is not null or conversations.source = ${sql.lit(WIDGET)})
        and conversations.updated_at > now() - interval '1 day'
        -- A change in the future was made before the clock of the database was set back.
        and conversations.updated_at not between now() - interval '20 seconds' and now() + interval '1 second'
        and not answer_stopped
        -- However long a job waits for its turn, there are not many for one conversation.
        and (answer_swept_at is null or answer_swept_at < now() - interval '5 minutes' or answer_swept_at < conversations.updated_at)
        and not exists (select from generations
          where generations.conversation_id = conversations.id and generations.status = 'running')
        and not exists (select from tickets where tickets.conversation_id = conversations.id
          and tickets.status_category not in ('closed', 'cancelled'))
        and not exists (select from inbound_messages where inbound_messages.message_id = newest.id
          and inbound_messages.content ->> 'silent' = 'true')
      limit ${AT_ONCE} for no key update of conversations skip locked)
    returning id`.execute(db)
  for (const { id } of rows) await jobs.enqueue<Answer>(db, ANSWER, { conversationId: id })
  return rows.length
}
