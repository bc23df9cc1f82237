import { sql } from 'kysely'
import type { Db } from '../../../platform/db/database.ts'
import { isId } from '../../../platform/db/ids.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { PersonNames } from '../../../platform/db/tables/privacy.ts'
import { ApiError, invalidField } from '../../../platform/http/errors.ts'
import { normalPhone } from '../../records/phone-number.ts'
import { visitorIds } from './person-rows.ts'

/** The identifier of a person in a request; exactly one of these is given. */
export type AskedPerson = { userId?: string; contactId?: string; email?: string; phone?: string }

/** The most contacts of one person. With more of them, the name is shared by many people. */
const MAX_CONTACTS = 1_000

/**
 * Returns all identifiers of a person that the account knows. Throws VALIDATION_INVALID_BODY unless exactly one
 * identifier is given, and RESOURCE_NOT_FOUND for an unknown contact.
 */
export async function findPerson(db: Db, accountId: AccountId, asked: AskedPerson): Promise<PersonNames> {
  const given = Object.values(asked).filter((value) => value !== undefined)
  if (given.length !== 1) {
    throw invalidField('userId', 'Send exactly one of userId, contactId, email and phone.')
  }
  const { userId, contactId, email, phone } = asked
  const person = await withOtherNames(db, accountId, {
    userIds: userId === undefined ? [] : [userId],
    contactIds: contactId === undefined || !isId(contactId) ? [] : [contactId.toLowerCase()],
    emails: email === undefined ? [] : [email.trim().toLowerCase()],
    phones: phone === undefined ? [] : [normalPhone(phone)],
  })
  if (contactId !== undefined && person.userIds.length === 0)
    throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The contact does not exist.' })
  return person
}

/**
 * Returns the identifiers together with those of all contacts that share one of them, and the ids of visitors who left
 * one, until no more are found. An address or number that contacts with different external ids of one agent share does
 * not identify anybody, so it is not followed.
 */
export async function withOtherNames(db: Db, accountId: AccountId, known: PersonNames): Promise<PersonNames> {
  let person = known
  for (;;) {
    const found = await contactsOf(db, accountId, person)
    const { rows: visitors } = await visitorIds(accountId, person).execute(db)
    const next: PersonNames = {
      userIds: union(person.userIds, [
        ...found.map(({ external_id }) => external_id),
        ...visitors.map(({ user_id }) => user_id),
      ]),
      contactIds: union(
        person.contactIds,
        found.map(({ id }) => id),
      ),
      emails: union(
        person.emails,
        found.flatMap(({ email }) => email ?? []),
      ),
      phones: union(
        person.phones,
        found.flatMap(({ phone }) => phone ?? []),
      ),
    }
    if (Object.values(next).flat().length === Object.values(person).flat().length) return person
    if (next.contactIds.length > MAX_CONTACTS)
      throw invalidField('userId', `More than ${MAX_CONTACTS} contacts would be this person.`)
    person = next
  }
}

const union = (known: string[], more: string[]): string[] => [...new Set([...known, ...more])]

type FoundContact = { id: string; external_id: string; email: string | null; phone: string | null }

/**
 * Returns the contacts with one of the identifiers, leaving out addresses that other contacts of their agent also have.
 */
async function contactsOf(
  db: Db,
  accountId: AccountId,
  { userIds, contactIds, emails, phones }: PersonNames,
): Promise<FoundContact[]> {
  // Channels use a contact's first address or number as its external id.
  const externalIds = [...userIds, ...emails, ...phones]
  const { rows } = await sql<FoundContact>`
    with named as (
      select contacts.* from agents join contacts on contacts.agent_id = agents.id
        where agents.account_id = ${accountId} and external_id = any(${externalIds}::text[])
      union select contacts.* from agents join contacts on contacts.agent_id = agents.id
        where agents.account_id = ${accountId} and email is not null and lower(email) = any(${emails}::text[])
      union select contacts.* from agents join contacts on contacts.agent_id = agents.id
        where agents.account_id = ${accountId} and phonenumber = any(${phones}::text[])
      union select * from contacts where account_id = ${accountId} and id = any(${contactIds}::uuid[])
      union select contacts.* from agents join conversations on conversations.agent_id = agents.id
        join contacts on contacts.id = conversations.contact_id
        where agents.account_id = ${accountId} and conversations.user_id = any(${userIds}::text[])
    )
    select id, external_id,
      case when not exists (select from contacts as other where other.agent_id = named.agent_id
        and lower(other.email) = lower(named.email) and other.id <> named.id) then lower(email) end as email,
      case when not exists (select from contacts as other where other.agent_id = named.agent_id
        and other.phonenumber = named.phonenumber and other.id <> named.id) then phonenumber end as phone
    from named order by id limit ${MAX_CONTACTS + 1}`.execute(db)
  return rows
}
