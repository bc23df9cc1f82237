import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { type Service, startService } from '../../../../test/start.ts'

let service: Service

before(async () => {
  service = await startService()
})
after(() => service.close())

/** The columns that identify a person's data in tables without a foreign key to it, and what deletes their rows. */
const SEEN_TO = [
  'attachments.path: dropFiles',
  'channel_threads.contact_id: dropThreads',
  'conversations.contact_id: eraseConversations',
  'conversations.parent_conversation_id: dropConversations',
  'conversations.thread_id: eraseConversations',
  'conversations.user_id: eraseConversations',
  'conversation_counts.user_id: dropTraces',
  'generation_log.generation_id: dropConversations',
  'inbound_messages.message_id: dropConversations',
  'leads.conversation_id: dropConversations',
  'leads.user_id: dropLeads',
  'mail_originals.inbound_message_id: dropConversations',
  'requests.generation_id: dropConversations',
  'sources.message_id: forgetQuestions',
  'tickets.conversation_id: dropConversations',
]
/** Columns that do not reveal who the person was. */
const WITHOUT_PERSON = [
  'credit_entries.generation_id',
  'insights_queue.conversation_id',
  'search_queue.conversation_id',
]

test('a new table that identifies a person fails this test until it is listed', async () => {
  const { rows } = await sql<{ name: string }>`
    select c.table_name || '.' || c.column_name as name from information_schema.columns as c
    where c.table_schema = 'public' and c.column_name ~ '(^|_)(conversation|contact|ticket|thread|user|generation|message)_id$'
      and not exists (
        select from information_schema.columns as other
        join pg_constraint as f on f.contype = 'f' and f.confdeltype = 'c'
          and f.conrelid = format('%I', c.table_name)::regclass
          and f.confrelid in ('conversations'::regclass, 'messages'::regclass, 'tickets'::regclass,
            'channel_threads'::regclass, 'contacts'::regclass, 'ticket_messages'::regclass)
        where other.table_schema = 'public' and other.table_name = c.table_name)
    order by 1`.execute(service.ctx.db)
  const known = new Set([...SEEN_TO.map((line) => line.split(':')[0]), ...WITHOUT_PERSON])
  assert.deepEqual(
    rows.map(({ name }) => name).filter((name) => !known.has(name) && !name.includes('provider_')),
    [],
    'Erasing has to see to these columns, or they must go with a conversation, ticket, thread or contact.',
  )
})
