import { sql } from 'kysely'
import { normalPhone } from '../../../people/records/phone-number.ts'
import type { Trx } from '../../../platform/db/database.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import { ensureThread, lockThread } from '../../inbound/receive-message.ts'
import type { ThreadData } from '../inbound/person-thread.ts'

type ThreadOwner = { account_id: AccountId; agent_id: string; connection: string }

/** Identifies the thread of one of our numbers with a person. */
export async function threadOfPeer(trx: Trx, of: ThreadOwner, peer: string): Promise<string | undefined> {
  const row = await threadsOf(trx, of).where('peer', '=', peer).executeTakeFirst()
  return row?.id
}

/**
 * Locks and returns the thread with the person who is dialled by this number (E.164). It is created with its contact
 * if necessary. The provider may use another id for the person, which earlier messages have shown.
 */
export async function threadToDial(trx: Trx, of: ThreadOwner, phone: string) {
  const dialled = await threadsOf(trx, of).where(isOfNumber(phone)).limit(1).executeTakeFirst()
  const id =
    dialled?.id ??
    (await ensureThread(trx, {
      accountId: of.account_id,
      agentId: of.agent_id,
      channel: 'messaging',
      connection: of.connection,
      peer: phone,
      person: { phonenumber: phone },
    }))
  const thread = await lockThread(trx, of.account_id, id)
  const { recipient } = thread.data as ThreadData
  // A person who has hidden the number since is found by the ids that the provider has named with it.
  if (recipient === undefined || !/^\d+$/.test(recipient)) return thread
  const named = normalPhone(`+${recipient}`)
  const other = named === thread.peer ? undefined : await threadOfPeer(trx, of, named)
  return other ? lockThread(trx, of.account_id, other) : thread
}

/** The threads of the person with this number, under whatever id: the last one that the person wrote in comes first. */
export const isOfNumber = (phone: string) => sql<boolean>`(
  data ->> 'dialled' = ${phone} or peer = ${phone} or peer in (
    select other.value from contact_identities as own
    join contact_identities as other on other.account_id = own.account_id and other.person = own.person
    where own.account_id = channel_threads.account_id and own.agent_id = channel_threads.agent_id
      and own.value = ${phone} and own.replaced_at is null))`

const threadsOf = (trx: Trx, { account_id, agent_id, connection }: ThreadOwner) =>
  trx
    .selectFrom('channel_threads')
    .select('id')
    .where('account_id', '=', account_id)
    .where('agent_id', '=', agent_id)
    .where('channel', '=', 'messaging')
    .where('connection', '=', connection)
    .orderBy(sql`last_inbound_at desc nulls last`)
