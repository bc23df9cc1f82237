import { type Selectable, sql } from 'kysely'
import type { Db, Trx } from '../../../platform/db/database.ts'
import type { ConversationRef } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import type { MailOriginalsTable, MailPeople, ReceivedMail } from '../../../platform/db/tables/channels.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { ConnectionRow } from '../connection/connection.ts'

type OriginalRow = Selectable<MailOriginalsTable>

type Original = { html: string; pictures: Record<string, string> }

/** Keeps the HTML of a mail for the message of the thread that has just been stored. */
export async function keepOriginal(
  trx: Trx,
  { account_id, agent_id }: ConnectionRow,
  { threadId, providerMessageId }: { threadId: string; providerMessageId: string },
  { html, pictures }: Original,
): Promise<void> {
  await trx
    .insertInto('mail_originals')
    .columns(['inbound_message_id', 'account_id', 'agent_id', 'html', 'pictures'])
    .expression((eb) =>
      eb
        .selectFrom('inbound_messages')
        .select((select) => [
          'id',
          'account_id',
          'agent_id',
          select.val(html).as('html'),
          select.val(json(pictures)).as('pictures'),
        ])
        .where('account_id', '=', account_id)
        .where('agent_id', '=', agent_id)
        .where('thread_id', '=', threadId)
        .where('provider_message_id', '=', providerMessageId),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Returns the HTML of the mail that became a message of a conversation. */
export async function originalOf(
  db: Db,
  accountId: AccountId,
  messageId: string,
): Promise<OriginalRow | undefined> {
  return db
    .selectFrom('mail_originals')
    .innerJoin('inbound_messages', 'inbound_messages.id', 'mail_originals.inbound_message_id')
    .selectAll('mail_originals')
    .where('mail_originals.account_id', '=', accountId)
    .where('inbound_messages.account_id', '=', accountId)
    .where('inbound_messages.message_id', '=', messageId)
    .executeTakeFirst()
}

type Mail = { messageId: string } & Partial<ReceivedMail & MailPeople>

/** Returns the people of the mails of a conversation: as the customer's were received, and as ours were sent. */
export async function mailsOf(
  db: Db,
  { accountId, agentId, conversationId }: ConversationRef,
): Promise<Mail[]> {
  const { rows } = await sql<{ id: string; mail: Omit<Mail, 'messageId'> }>`
    select * from (
      select messages.id, messages.seq,
        coalesce(received.content -> 'mail', said.metadata -> 'mail', answered.content -> 'people') as mail
      from messages
      left join inbound_messages as received
        on received.message_id = messages.id and received.account_id = ${accountId}
      left join ticket_messages as said
        on said.message_id = messages.id and said.account_id = ${accountId} and said.type = 'reply'
      left join deliveries as answered
        on answered.message_id = messages.id and answered.account_id = ${accountId}
          and answered.conversation_id = ${conversationId}
      where messages.account_id = ${accountId} and messages.agent_id = ${agentId}
        and messages.conversation_id = ${conversationId}) as mails
    where mail is not null order by seq`.execute(db)
  return rows.map(({ id, mail }) => ({ messageId: id, ...mail }))
}
