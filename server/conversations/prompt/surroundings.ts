import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { AgentRef } from '../../platform/db/refs.ts'
import type { ConversationsTable } from '../../platform/db/tables/conversations.ts'
import type { BusinessHours } from '../../platform/db/tables/helpdesk.ts'
import type { Customer } from './build-prompt.ts'

/** What a model is told beside the words of a conversation. */
export type Surroundings = { customer: Customer; hours: BusinessHours | null }

/** Whose conversation it is, and where. */
export type Place = {
  contactId: string | null
  /** The external id of a contact, where an application that is trusted has named it. */
  externalId: string | null
  country: string | null
  page: string | null
}

/** What one statement reads from the database, as JSON. */
export type Known = {
  contact: Pick<Customer, 'name' | 'attributes'> | null
  hours: BusinessHours | null
}

/** Returns an SQL expression for `Known`; `hours` is the expression for the business hours. */
export const knownSurroundings = (
  { accountId, agentId }: AgentRef,
  { contactId, externalId }: Place,
  hours: RawBuilder<BusinessHours | null>,
): RawBuilder<Known> => sql`jsonb_build_object(
  'contact', (
    select jsonb_build_object('name', name, 'attributes', (
      select jsonb_object_agg(given.key, given.value) from jsonb_each(contacts.custom_attributes) as given
      where exists (select from custom_attributes as kept where kept.account_id = ${accountId}::uuid
        and kept.agent_id = ${agentId} and kept.name = given.key and not kept.archived)))
    from contacts where account_id = ${accountId}::uuid and agent_id = ${agentId}
      and ${contactId === null ? sql`external_id = ${externalId}` : sql`id = ${contactId}::uuid`}),
  'hours', (${hours}))`

export function surroundingsOf({ country, page }: Place, known: Known | null): Surroundings {
  const { contact = null, hours = null } = known ?? {}
  return {
    customer: { name: contact?.name ?? null, country, page, attributes: contact?.attributes ?? {} },
    hours,
  }
}

/** Returns where a conversation takes place. */
export const placeOf = (
  row: Pick<Selectable<ConversationsTable>, 'contact_id' | 'source' | 'user_id' | 'country' | 'embed_origin'>,
): Place => ({
  contactId: row.contact_id,
  externalId: row.source === API ? row.user_id : null,
  country: row.country,
  page: row.embed_origin,
})

/** Returns where a conversation takes place that an application or a member begins. */
export const newPlace = ({
  contactId = null,
  userId = null,
  source,
}: {
  contactId?: string | null | undefined
  userId?: string | null | undefined
  source: string
}): Place => ({ contactId, externalId: source === API ? userId : null, country: null, page: null })

/** The value of conversations.source for conversations of applications. */
const API = 'API'

/** Returns the time of a message, in the zone of the opening hours, and these hours. */
export function timeLines(hours: BusinessHours | null, time: Date): string[] {
  const timeZone = hours?.timeZone ?? 'UTC'
  const now = new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'short' }).format(
    time,
  )
  const clock = `Time of the message: ${now} (${timeZone})`
  if (!hours) return [clock]
  const days = WEEK.map((day) => {
    const open = (hours.days[day] ?? []).map(({ from, to }) => `${from}-${to}`)
    return `${day} ${open.join(' and ') || 'closed'}`
  })
  const today = time.toISOString().slice(0, 10)
  const closed = hours.holidays.filter((day) => day >= today).slice(0, MAX_HOLIDAYS)
  return [
    clock,
    `Hours in which the team answers: ${days.join(', ')}${closed.length > 0 ? `; closed on ${closed.join(', ')}` : ''}`,
  ]
}

const WEEK = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const
const MAX_HOLIDAYS = 10
