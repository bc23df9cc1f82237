import type { Db } from '../server/platform/db/database.ts'
import { newId } from '../server/platform/db/ids.ts'
import { json } from '../server/platform/db/statements/json.ts'
import type { AccountId } from '../server/platform/db/tables/columns.ts'

/**
 * Stores a mail of a program that nobody has answered, in a thread of its own. Returns its id. With
 * `messageId`, the mail belongs to that message, and its HTML is stored.
 */
export async function addSilentMail(
  db: Db,
  owner: { account_id: AccountId; agent_id: string },
  messageId: string | null = null,
): Promise<string> {
  const [id, threadId] = [newId(), newId()]
  const to = { address: 'shop@example.org', name: 'Shop' }
  const thread = {
    subject: 'News',
    to,
    participants: [to.address],
    references: [],
    lastReceived: null,
    alsoTo: null,
  }
  await db
    .insertInto('channel_threads')
    .values({
      ...owner,
      id: threadId,
      channel: 'email',
      connection: 'box@example.com',
      peer: threadId,
      contact_id: null,
      data: json(thread),
    })
    .execute()
  await db
    .insertInto('inbound_messages')
    .values({
      ...owner,
      id,
      thread_id: threadId,
      provider_message_id: id,
      content: json({ text: 'News', attachments: [], silent: true, silentBecause: 'list' }),
      sent_at: new Date(),
      message_id: messageId,
      taken_in_at: new Date(),
    })
    .execute()
  if (messageId !== null)
    await db
      .insertInto('mail_originals')
      .values({ ...owner, inbound_message_id: id, html: '<p>News</p>', pictures: json({}) })
      .execute()
  return id
}
