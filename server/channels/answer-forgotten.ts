import { sql } from 'kysely'
import type { Context } from '../context.ts'
import { WIDGET } from '../conversations/sources.ts'
import { isAnswered } from '../conversations/unanswered.ts'
import { ANSWER, type Answer } from './channel-tasks.ts'

/**
 * Looks for customers of the last day whose message nobody answers, because a process died with its answer, and has
 * them answered. An open ticket is with the team. A second job for the same conversation does no harm.
 */
export async function answerForgotten({ db, jobs }: Pick<Context, 'db' | 'jobs'>): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    select conversations.id from conversations
    join lateral (
      select messages.id, messages.seq from messages
      where messages.conversation_id = conversations.id and messages.role = 'user'
      order by messages.seq desc limit 1
    ) as newest on true
    where (conversations.thread_id is not null or conversations.source = ${sql.lit(WIDGET)})
      and conversations.status = 'ongoing'
      and conversations.updated_at between now() - interval '1 day' and now() - interval '20 seconds'
      and not ${isAnswered(sql.ref('conversations.id'), sql.ref('newest.seq'))}
      and not exists (select from generations
        where generations.conversation_id = conversations.id and (generations.status = 'running'
          or (generations.user_message_id = newest.id and generations.stop_reason = 'stop')))
      and not exists (select from tickets where tickets.conversation_id = conversations.id
        and tickets.status_category not in ('closed', 'cancelled'))
      and not exists (select from inbound_messages where inbound_messages.message_id = newest.id
        and inbound_messages.content ->> 'silent' = 'true')
    limit 500`.execute(db)
  for (const { id } of rows) await jobs.enqueue<Answer>(db, ANSWER, { conversationId: id })
  return rows.length
}
