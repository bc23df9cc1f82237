import { type RawBuilder, sql } from 'kysely'
import { WIDGET } from '../../../conversations/records/queries.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { PersonNames } from '../../../platform/db/tables/privacy.ts'

type Reads = (accountId: AccountId, person: PersonNames) => RawBuilder<unknown>

/**
 * Selects a column of the person's leads: those with one of their addresses or numbers, and those that they sent as a
 * visitor.
 */
const ofLeads =
  (column: 'id' | 'conversation_id' | 'user_id'): Reads =>
  (accountId, { userIds, emails, phones }) =>
    sql`
  select ${sql.ref(column)} from leads where account_id = ${accountId} and email is not null and lower(email) = any(${emails}::text[])
  union select ${sql.ref(column)} from leads where account_id = ${accountId} and phone = any(${phones}::text[])
  union select ${sql.ref(column)} from leads where account_id = ${accountId} and user_id = any(${userIds}::text[])`

/** Selects a column of the tickets whose customer is the person. */
const ofTickets =
  (column: 'id' | 'conversation_id'): Reads =>
  (accountId, person) =>
    sql`
  select ${sql.ref(column)} from tickets where account_id = ${accountId}
    and customer ->> 'id' = any(${[...person.userIds, ...person.contactIds]}::text[])
  union select ${sql.ref(column)} from tickets where account_id = ${accountId} and customer ->> 'email' is not null
    and lower(customer ->> 'email') = any(${person.emails}::text[])
  union select ${sql.ref(column)} from tickets where account_id = ${accountId}
    and customer ->> 'phoneNumber' = any(${person.phones}::text[])`

export const leadIds = ofLeads('id')
export const ticketIds = ofTickets('id')

/**
 * Selects the user ids of website visitors with a lead or a ticket of the person, which no request can name. User ids
 * of applications are not included, since a lead in a conversation of one of their users may be about somebody else.
 */
export const visitorIds = (accountId: AccountId, person: PersonNames): RawBuilder<{ user_id: string }> => sql`
  select user_id from (${ofLeads('user_id')(accountId, person)}) as own where user_id is not null
  union select user_id from conversations where account_id = ${accountId} and source = ${WIDGET}
    and user_id is not null and id in (
      ${ofLeads('conversation_id')(accountId, person)} union ${ofTickets('conversation_id')(accountId, person)})`

/** Selects the ids of the person's threads on channels. */
export const threadIds = (accountId: AccountId, person: PersonNames): RawBuilder<unknown> => sql`
  select id from channel_threads where account_id = ${accountId} and contact_id = any(${person.contactIds}::uuid[])
  union select id from channel_threads where account_id = ${accountId}
    and lower(peer) = any(${[...person.phones, ...person.emails]}::text[])
  union select id from channel_threads where account_id = ${accountId} and channel = 'email'
    and lower(data #>> '{to,address}') = any(${person.emails}::text[])`

/**
 * Selects the ids of the person's conversations, with up to `limit` from each set, either in any order or the first
 * ones after the id `after`. The sets are the conversations of the user, of the contact and of their threads, and
 * conversations without a user in which the person left an address or opened a ticket.
 */
export function conversationIds(
  accountId: AccountId,
  person: PersonNames,
  { limit, after }: { limit: number; after: string | null },
): RawBuilder<unknown> {
  const beyond = (id: string) => (after === null ? sql`true` : sql`${sql.ref(id)} > ${after}::uuid`)
  const end = after === null ? sql`limit ${limit}` : sql`order by 1 limit ${limit}`
  const ofNobody = (rows: RawBuilder<unknown>) => sql`
    select c.id from conversations as c where c.account_id = ${accountId} and c.user_id is null
      and c.contact_id is null and ${beyond('c.id')} and c.id in (${rows}) ${end}`
  return sql`
    (select c.id from agents join conversations as c on c.agent_id = agents.id
      where agents.account_id = ${accountId} and c.user_id = any(${person.userIds}::text[]) and ${beyond('c.id')} ${end})
    union (select c.id from conversations as c where c.account_id = ${accountId}
      and c.contact_id = any(${person.contactIds}::uuid[]) and ${beyond('c.id')} ${end})
    union (select c.id from conversations as c where c.thread_id in (${threadIds(accountId, person)})
      and ${beyond('c.id')} ${end})
    union (${ofNobody(ofLeads('conversation_id')(accountId, person))})
    union (${ofNobody(ofTickets('conversation_id')(accountId, person))})`
}
