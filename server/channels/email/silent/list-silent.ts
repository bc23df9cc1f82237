import { sql } from 'kysely'
import type { Static } from 'typebox'
import type { Db } from '../../../platform/db/database.ts'
import type { AgentRef } from '../../../platform/db/refs.ts'
import type { listSilentMails } from '../contract.ts'
import { mailThreadOf, subjectAsked } from '../outbound/mail-threads.ts'

const MAX_LISTED = 100
const DAYS = 30
const MAX_TEXT_LENGTH = 300

type Silent = Static<(typeof listSilentMails)['success']['schema']>

/** Returns the newest mails that were stored without an answer, and how many there were of each kind lately. */
export async function silentMails(db: Db, { accountId, agentId }: AgentRef): Promise<Silent> {
  const isSilent = sql<boolean>`inbound_messages.content -> 'silentBecause' is not null`
  const rows = await db
    .selectFrom('inbound_messages')
    .innerJoin('channel_threads', 'channel_threads.id', 'inbound_messages.thread_id')
    .leftJoin('messages', (join) =>
      join.onRef('messages.id', '=', 'inbound_messages.message_id').on('messages.account_id', '=', accountId),
    )
    .select([
      'inbound_messages.id',
      'inbound_messages.content',
      'inbound_messages.sent_at',
      'channel_threads.data',
      'messages.conversation_id',
    ])
    .where('inbound_messages.account_id', '=', accountId)
    .where('inbound_messages.agent_id', '=', agentId)
    .where(isSilent)
    .orderBy('inbound_messages.created_at', 'desc')
    .orderBy('inbound_messages.id', 'desc')
    .limit(MAX_LISTED)
    .execute()
  const counted = await sql<{ reason: Silent['counts'][number]['reason']; count: number }>`
    select content ->> 'silentBecause' as reason, count(*) as count from inbound_messages
    where account_id = ${accountId} and agent_id = ${agentId} and ${isSilent}
      and created_at > now() - ${DAYS} * interval '1 day'
    group by reason order by count desc, reason`.execute(db)
  return {
    data: rows.flatMap(({ id, content, sent_at, data, conversation_id }) => {
      const thread = mailThreadOf({ data })
      if (content.silentBecause === undefined) return []
      return {
        id,
        reason: content.silentBecause,
        from: thread?.to.address ?? null,
        fromName: thread?.to.name ?? null,
        subject: thread ? subjectAsked(thread) : '',
        text: content.text.slice(0, MAX_TEXT_LENGTH).toWellFormed(),
        receivedAt: sent_at.toISOString(),
        conversationId: conversation_id,
      }
    }),
    counts: counted.rows.map(({ reason, count }) => ({ reason, count: Number(count) })),
  }
}
