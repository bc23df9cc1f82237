import { type RawBuilder, sql } from 'kysely'
import type { AccountId, PersonNames } from '../db/tables.ts'

/** Ids of the person's leads: those that carry an address or a number of theirs. */
export const leadIds = (accountId: AccountId, { emails, phones }: PersonNames): RawBuilder<unknown> => sql`
  select id from leads where account_id = ${accountId} and email is not null and lower(email) = any(${emails}::text[])
  union select id from leads where account_id = ${accountId} and phone = any(${phones}::text[])`

/** Ids of the tickets whose customer is the person. */
export const ticketIds = (accountId: AccountId, person: PersonNames): RawBuilder<unknown> => sql`
  select id from tickets where account_id = ${accountId}
    and customer ->> 'id' = any(${[...person.userIds, ...person.contactIds]}::text[])
  union select id from tickets where account_id = ${accountId} and customer ->> 'email' is not null
    and lower(customer ->> 'email') = any(${person.emails}::text[])
  union select id from tickets where account_id = ${accountId} and customer ->> 'phoneNumber' = any(${person.phones}::text[])`

/** Ids of the person's threads on channels. */
export const threadIds = (accountId: AccountId, person: PersonNames): RawBuilder<unknown> => sql`
  select id from channel_threads where account_id = ${accountId} and contact_id = any(${person.contactIds}::uuid[])
  union select id from channel_threads where account_id = ${accountId}
    and lower(peer) = any(${[...person.phones, ...person.emails]}::text[])
  union select id from channel_threads where account_id = ${accountId} and channel = 'email'
    and lower(data #>> '{to,address}') = any(${person.emails}::text[])`

/**
 * Ids of the person's conversations, each set cut to `limit`: any of them, or the first beyond the id `after`: those of the user, the
 * contact and their threads, and those of nobody in which the person left an address or opened a ticket.
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
    union (${ofNobody(sql`select conversation_id from leads where id in (${leadIds(accountId, person)})`)})
    union (${ofNobody(sql`select conversation_id from tickets where id in (${ticketIds(accountId, person)})`)})`
}
