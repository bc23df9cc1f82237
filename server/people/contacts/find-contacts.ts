import { sql } from 'kysely'
import type { ConversationRow } from '../../conversations/records/queries.ts'
import { PLAYGROUND } from '../../conversations/records/queries.ts'
import type { Db } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { DateRange } from '../../platform/http/input/dates.ts'
import { newestFirst, type PageRequest } from '../../platform/http/pagination.ts'
import { normalPhone } from '../records/phone-number.ts'
import type { ContactRow } from '../records/queries.ts'

/**
 * Returns the agent's contact with this id. Throws RESOURCE_NOT_FOUND. `lock` locks the row for a change or, so that
 * nothing new refers to it, for its deletion.
 */
export async function requireContactById(
  db: Db,
  ref: AgentRef,
  id: string,
  lock: 'none' | 'change' | 'deletion' = 'none',
): Promise<ContactRow> {
  if (!isId(id)) throw noContact()
  let query = db.selectFrom('contacts').selectAll().where(ofAgent(ref)).where('id', '=', id)
  if (lock === 'change') query = query.forNoKeyUpdate()
  if (lock === 'deletion') query = query.forUpdate()
  const row = await query.executeTakeFirst()
  if (!row) throw noContact()
  return row
}

const noContact = (): ApiError =>
  new ApiError('RESOURCE_NOT_FOUND', { message: 'The contact does not exist.' })

/** Returns up to `limit` + 1 contacts, newest first, and the total number. */
export async function findContacts(
  db: Db,
  ref: AgentRef,
  wanted: string | undefined,
  page: PageRequest,
): Promise<{ rows: ContactRow[]; total: number }> {
  let query = db.selectFrom('contacts').where(ofAgent(ref))
  if (wanted !== undefined) {
    const words = wanted.trim().toLowerCase()
    const named = db
      .selectFrom('contact_identities')
      .select('contact_id')
      .where(ofAgent(ref))
      .where((eb) =>
        eb.or([
          eb('value', 'in', [wanted.trim(), normalPhone(wanted)]),
          eb(eb.fn<string>('lower', ['username']), '=', words.replace(/^@/, '')),
        ]),
      )
    const beginning = `${words.replace(/[\\%_]/g, '\\$&')}%`
    query = query.where((eb) =>
      eb.or([
        eb('external_id', '=', wanted.trim()),
        eb('phonenumber', '=', normalPhone(wanted)),
        eb(eb.fn<string>('lower', ['email']), '=', words),
        eb(eb.fn<string>('lower', ['name']), 'like', beginning),
        // Also what the channel has called the person before.
        eb('id', 'in', named),
      ]),
    )
  }
  return newestFirst(query.selectAll(), page)
}

/**
 * Returns up to `limit` + 1 conversations, most recently active first: those of the contact, and those that name it
 * as their user.
 */
export async function conversationsOfContact(
  db: Db,
  { account_id, agent_id, id, external_id }: ContactRow,
  page: PageRequest,
): Promise<{ rows: ConversationRow[]; total: number }> {
  const query = db
    .selectFrom('conversations')
    .where('account_id', '=', account_id)
    .where('agent_id', '=', agent_id)
    .where((eb) => eb.or([eb('contact_id', '=', id), eb('user_id', '=', external_id)]))
    .where('transient', '=', false)
    .where('source', '<>', PLAYGROUND)
  return newestFirst(query.selectAll(), page, 'updated_at')
}

/**
 * Returns up to `limit` + 1 tickets, newest first: those of the contact's conversations and those with its address.
 */
export async function ticketsOfContact(
  db: Db,
  { account_id, agent_id, id, email, external_id }: ContactRow,
  page: PageRequest,
) {
  const query = db
    .selectFrom('tickets')
    .where('account_id', '=', account_id)
    .where('agent_id', '=', agent_id)
    .where((eb) =>
      eb.or([
        eb(
          'conversation_id',
          'in',
          eb
            .selectFrom('conversations')
            .select('conversations.id')
            .where('conversations.account_id', '=', account_id)
            .where('conversations.contact_id', '=', id),
        ),
        eb(sql<string>`customer ->> 'id'`, '=', external_id),
        ...(email === null ? [] : [eb(sql<string>`lower(customer ->> 'email')`, '=', email.toLowerCase())]),
      ]),
    )
  return newestFirst(query.selectAll(), page)
}

/** Returns up to `limit` + 1 leads of the agent, newest first. */
export async function leadsOf(db: Db, ref: AgentRef, { from, until }: DateRange, page: PageRequest) {
  let query = db.selectFrom('leads').where(ofAgent(ref))
  if (from) query = query.where('created_at', '>=', from)
  if (until) query = query.where('created_at', '<=', until)
  return newestFirst(query.selectAll(), page)
}
