import { sql } from 'kysely'
import type { ThreadRow } from '../../../inbox/deliveries/enqueue-delivery.ts'
import {
  type Identity,
  identify,
  type Known,
  replaceIdentities,
} from '../../../people/identities/identify.ts'
import { normalPhone } from '../../../people/records/phone-number.ts'
import type { Trx } from '../../../platform/db/database.ts'
import { newId } from '../../../platform/db/ids.ts'
import { ofAgent, ownRow } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import { lockThread } from '../../inbound/receive-message.ts'
import type { Sender } from '../connection/provider-adapter.ts'

/** The content of channel_threads.data for this channel. */
export type ThreadData = {
  /** The provider's id of the person, to which messages are sent: the digits of a number, or a user id. */
  recipient?: string
  /** The number that was dialled, if the provider uses another one for the person. */
  dialled?: string
  /** The time when the last word that opts in or out was sent. */
  wordAt?: string
}

export type Place = { accountId: AccountId; agentId: string; businessAccountId: string; numberId: string }

const identitiesOf = ({ phone, userId, parentUserId }: Sender): Identity[] => [
  ...(phone === null ? [] : [{ kind: 'phone' as const, value: normalPhone(`+${phone}`) }]),
  ...(userId === null ? [] : [{ kind: 'user' as const, value: userId }]),
  ...(parentUserId === null || parentUserId === userId
    ? []
    : [{ kind: 'parent_user' as const, value: parentUserId }]),
]

/** Numbers are what the provider recommends to send to, while it gives them. */
export const recipientOf = ({ phone, userId, parentUserId }: Sender): string | null =>
  phone ?? userId ?? parentUserId

/**
 * Returns the locked thread of the sender on this number. All ids of a person lead to one thread. It is created with its
 * contact if necessary.
 */
export async function threadOfSender(
  trx: Trx,
  place: Place,
  from: Sender,
  statedBy: string,
): Promise<ThreadRow> {
  const identities = identitiesOf(from)
  const contactId = await contactOfThread(trx, place, identities)
  const known = await identify(trx, place, {
    identities,
    scope: place.businessAccountId,
    statedBy,
    name: from.name ?? from.username,
    username: from.username,
    contactId,
  })
  await renameReleased(trx, place, known)
  return findOrCreate(trx, place, known, identities)
}

/** Takes a person's new ids. Returns the thread, or null for somebody who has never written. */
export async function threadAfterReplacement(
  trx: Trx,
  place: Place,
  { from, now, statedBy }: { from: Sender; now: Sender; statedBy: string },
): Promise<ThreadRow | null> {
  const earlier = identitiesOf(from)
  const contactId = await contactOfThread(trx, place, earlier)
  const said = { scope: place.businessAccountId, statedBy, name: null, username: null, contactId }
  // The thread may be older than the table of identities.
  if (contactId !== null) await identify(trx, place, { ...said, identities: earlier })
  const known = await replaceIdentities(trx, place, earlier, { ...said, identities: identitiesOf(now) })
  if (!known) return null
  await renameReleased(trx, place, known)
  const thread = await findOrCreate(trx, place, known, identitiesOf(now))
  const data: ThreadData = { ...thread.data, recipient: recipientOf(now) ?? thread.peer }
  await setData(trx, thread, data)
  return { ...thread, data }
}

/** Learns from the status of a message which ids its recipient has, so that the replies reach the same thread. */
export async function learnRecipient(trx: Trx, place: Place, to: Sender, statedBy: string): Promise<void> {
  const identities = identitiesOf(to)
  const contactId = await contactOfThread(trx, place, identities)
  if (contactId === null) return
  const statement = { identities, scope: place.businessAccountId, statedBy, name: null, contactId }
  await renameReleased(trx, place, await identify(trx, place, { ...statement, username: to.username }))
}

const setData = (trx: Trx, { account_id, id }: ThreadRow, data: ThreadData) =>
  trx
    .updateTable('channel_threads')
    .set({ data: json(data) })
    .where(ownRow(account_id, id))
    .execute()

async function contactOfThread(trx: Trx, place: Place, identities: Identity[]): Promise<string | null> {
  const row = await threadsWith(
    trx,
    place,
    identities.map(({ value }) => value),
  ).executeTakeFirst()
  return row?.contact_id ?? null
}

const threadsWith = (trx: Trx, { accountId, agentId, numberId }: Place, peers: string[]) =>
  trx
    .selectFrom('channel_threads')
    .select(['id', 'contact_id'])
    .where(ofAgent({ accountId, agentId }))
    .where('channel', '=', 'messaging')
    .where('connection', '=', numberId)
    .where((eb) => eb.or([eb('peer', 'in', peers), eb(sql<string>`data ->> 'dialled'`, 'in', peers)]))
    // Two ids may have had threads of their own before the provider said that they are one person.
    .orderBy(sql`last_inbound_at desc nulls last`)
    .orderBy('created_at')
    .limit(1)

/** What somebody was called before may be what somebody else is called now. */
async function renameReleased(trx: Trx, place: Place, { released }: Known): Promise<void> {
  for (const { value, instead } of released) {
    await sql`
      update channel_threads as t set
        peer = case when ${instead}::text is null or exists (select from channel_threads as other
            where other.agent_id = t.agent_id and other.channel = t.channel
              and other.connection = t.connection and other.peer = ${instead})
          then t.peer || ' until ' || t.id else ${instead} end,
        data = t.data || case when ${instead}::text is null then '{}'::jsonb
          else jsonb_build_object('recipient', ltrim(${instead}, '+')) end
      where account_id = ${place.accountId} and agent_id = ${place.agentId} and channel = 'messaging'
        and peer = ${value}`.execute(trx)
  }
}

async function findOrCreate(
  trx: Trx,
  place: Place,
  { contactId, values }: Known,
  identities: Identity[],
): Promise<ThreadRow> {
  const { accountId, agentId, numberId } = place
  const first = identities.find(({ value }) => values.includes(value))
  if (!first) throw new Error('A person needs an identity.')
  const found = await threadsWith(trx, place, values).executeTakeFirst()
  if (!found) {
    await trx
      .insertInto('channel_threads')
      .values({
        id: newId(),
        account_id: accountId,
        agent_id: agentId,
        channel: 'messaging',
        connection: numberId,
        peer: first.value,
        contact_id: contactId,
        data: json({}),
      })
      .onConflict((conflict) => conflict.columns(['agent_id', 'channel', 'connection', 'peer']).doNothing())
      .execute()
  } else if (found.contact_id === null) {
    await trx
      .updateTable('channel_threads')
      .set({ contact_id: contactId })
      .where(ownRow(accountId, found.id))
      .execute()
  }
  const { id } = found ?? (await threadsWith(trx, place, values).executeTakeFirstOrThrow())
  return lockThread(trx, accountId, id)
}
