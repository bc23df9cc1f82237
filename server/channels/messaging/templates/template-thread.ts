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
  const dialled = await threadsOf(trx, of)
    .where(sql<boolean>`data ->> 'dialled' = ${phone}`)
    .executeTakeFirst()
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
  const named = recipient === undefined ? phone : normalPhone(`+${recipient}`)
  const other = named === thread.peer ? undefined : await threadOfPeer(trx, of, named)
  return other ? lockThread(trx, of.account_id, other) : thread
}

const threadsOf = (trx: Trx, { account_id, agent_id, connection }: ThreadOwner) =>
  trx
    .selectFrom('channel_threads')
    .select('id')
    .where('account_id', '=', account_id)
    .where('agent_id', '=', agent_id)
    .where('channel', '=', 'messaging')
    .where('connection', '=', connection)
