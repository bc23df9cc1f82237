import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import type { ThreadRow } from '../../inbox/deliveries/enqueue-delivery.ts'
import { type Person, resolveContact } from '../../people/records/resolve-contact.ts'
import type { Trx } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import { ofAgent, ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { ChannelName, InboundContent } from '../../platform/db/tables/channels.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'

/** Names and payloads of the channels' jobs. */
export const PROCESS_INBOUND = 'take-in-messages'

export type ProcessInbound = { threadId: string }

export type Inbound = {
  accountId: AccountId
  agentId: string
  channel: ChannelName
  /** Our side of the thread and theirs; see the table channel_threads. */
  connection: string
  peer: string
  person: Person
  /** A message with a known id is not stored again. */
  providerMessageId: string
  sentAt: Date
  content: InboundContent
}

/** Messages that arrive within this time are processed together, in the order in which they were sent. */
export const QUIET_SECONDS = 1

/**
 * Stores an incoming message once; processInbound processes it a moment later. The provider may be told that it was received
 * when the transaction has committed. Returns the thread, and whether the message is new.
 */
export async function receiveMessage(
  { jobs }: Pick<Context, 'jobs'>,
  trx: Trx,
  inbound: Inbound,
): Promise<{ threadId: string; isNew: boolean }> {
  const threadId = await ensureThread(trx, inbound)
  const kept = await trx
    .insertInto('inbound_messages')
    .values({
      id: newId(),
      account_id: inbound.accountId,
      agent_id: inbound.agentId,
      thread_id: threadId,
      provider_message_id: inbound.providerMessageId,
      content: json(inbound.content),
      sent_at: inbound.sentAt,
      message_id: null,
    })
    .onConflict((conflict) => conflict.columns(['thread_id', 'provider_message_id']).doNothing())
    .executeTakeFirst()
  if (!kept.numInsertedOrUpdatedRows) return { threadId, isNew: false }
  await trx
    .updateTable('channel_threads')
    .set({ last_inbound_at: sql<Date>`greatest(last_inbound_at, ${inbound.sentAt})` })
    .where(ownRow(inbound.accountId, threadId))
    .execute()
  await jobs.enqueue<ProcessInbound>(trx, PROCESS_INBOUND, { threadId }, QUIET_SECONDS)
  return { threadId, isNew: true }
}

type ThreadKey = Pick<Inbound, 'accountId' | 'agentId' | 'channel' | 'connection' | 'peer' | 'person'>

/** Returns the thread of this person on this connection. It is created with its contact if necessary. */
export async function ensureThread(trx: Trx, wanted: ThreadKey): Promise<string> {
  const { accountId, agentId, channel, connection, peer } = wanted
  const find = () =>
    trx
      .selectFrom('channel_threads')
      .select('id')
      .where(ofAgent({ accountId, agentId }))
      .where('channel', '=', channel)
      .where('connection', '=', connection)
      .where('peer', '=', peer)
      .executeTakeFirst()
  const known = await find()
  if (known) return known.id
  const contact = await resolveContact(trx, { accountId, agentId }, wanted.person)
  await trx
    .insertInto('channel_threads')
    .values({
      id: newId(),
      account_id: accountId,
      agent_id: agentId,
      channel,
      connection,
      peer,
      contact_id: contact.id,
      data: json({}),
    })
    .onConflict((conflict) => conflict.columns(['agent_id', 'channel', 'connection', 'peer']).doNothing())
    .execute()
  const made = await find()
  if (!made) throw new Error('The thread was removed while it was made.')
  return made.id
}

/** Locks the row of the thread and returns it. */
export const lockThread = (trx: Trx, accountId: AccountId, threadId: string): Promise<ThreadRow> =>
  trx
    .selectFrom('channel_threads')
    .selectAll()
    .where(ownRow(accountId, threadId))
    // A reply that ends locks the conversation and then refers to the thread, which FOR UPDATE would block.
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
