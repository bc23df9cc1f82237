import { sql } from 'kysely'
import type { ConversationRow } from '../../../conversations/records/queries.ts'
import type { Db } from '../../../platform/db/database.ts'
import type { Customer } from '../../../platform/db/tables/helpdesk.ts'
import { isPhone } from '../../records/phone-number.ts'
import type { KnownValue } from './personal-replacer.ts'

/** Shorter values of attributes, such as "no" or "12", stand in too many texts for other things. */
const MIN_ATTRIBUTE_LENGTH = 3
const MIN_ATTRIBUTE_DIGITS = 4

type Known = { known: KnownValue[]; names: string[] }

/** Returns what is known of the customer of a conversation, from every place where it is stored. */
export async function knownOf(db: Db, conversation: ConversationRow): Promise<Known> {
  const [contacts, identities, leads, tickets, threads] = await Promise.all([
    contactsOf(db, conversation),
    identitiesOf(db, conversation),
    leadsOf(db, conversation),
    ticketsOf(db, conversation),
    threadsOf(db, conversation),
  ])
  const customers = tickets.map(({ customer }) => customer as Customer)
  const given = (values: (string | null | undefined)[]): string[] =>
    values.filter((value) => !!value?.trim()) as string[]
  const attributes = contacts.flatMap(({ custom_attributes }) => Object.entries(custom_attributes))
  return {
    names: [
      ...new Set(
        given([
          ...contacts.map(({ name }) => name),
          ...customers.map(({ name }) => name),
          ...leads.map(({ name }) => name),
        ]),
      ),
    ],
    known: [
      ...given([
        ...contacts.flatMap(({ email, phonenumber, external_id }) => [email, phonenumber, external_id]),
        ...identities.flatMap(({ value, username }) => [value, username]),
        ...leads.flatMap(({ email, phone }) => [email, phone]),
        ...customers.flatMap(({ id, email, phoneNumber }) => [id, email, phoneNumber]),
        ...threads.flatMap(({ peer, address }) => [peer, address]),
        conversation.user_id,
      ]).map((value) => ({ kind: kindOf(value), value })),
      ...attributes.flatMap(([name, value]) => {
        const isTelling =
          (typeof value === 'string' && value.trim().length >= MIN_ATTRIBUTE_LENGTH) ||
          (typeof value === 'number' && String(value).length >= MIN_ATTRIBUTE_DIGITS)
        return isTelling ? [{ kind: name, value: String(value) }] : []
      }),
    ],
  }
}

const kindOf = (value: string): string => {
  if (value.includes('@')) return 'email'
  return isPhone(value) ? 'number' : 'customer id'
}

function contactsOf(db: Db, { account_id, agent_id, contact_id, user_id }: ConversationRow) {
  return db
    .selectFrom('contacts')
    .select(['name', 'email', 'phonenumber', 'external_id', 'custom_attributes'])
    .where('account_id', '=', account_id)
    .where('agent_id', '=', agent_id)
    .where((eb) => eb.or([eb('id', '=', contact_id), eb('external_id', '=', user_id ?? '')]))
    .execute()
}

function identitiesOf(db: Db, { account_id, contact_id }: ConversationRow) {
  return db
    .selectFrom('contact_identities')
    .select(['value', 'username'])
    .where('account_id', '=', account_id)
    .where('contact_id', '=', contact_id)
    .execute()
}

function leadsOf(db: Db, { account_id, id }: ConversationRow) {
  return db
    .selectFrom('leads')
    .select(['name', 'email', 'phone'])
    .where('account_id', '=', account_id)
    .where('conversation_id', '=', id)
    .execute()
}

function ticketsOf(db: Db, { account_id, id }: ConversationRow) {
  return db
    .selectFrom('tickets')
    .select('customer')
    .where('account_id', '=', account_id)
    .where('conversation_id', '=', id)
    .execute()
}

function threadsOf(db: Db, { account_id, thread_id }: ConversationRow) {
  return db
    .selectFrom('channel_threads')
    .select('peer')
    .select(sql<string | null>`data #>> '{to,address}'`.as('address'))
    .where('account_id', '=', account_id)
    .where('id', '=', thread_id)
    .execute()
}
