import Type from 'typebox'
import { CommaList, DayOrTime, Exact, IsoTime, Nullable, OneOf } from '../../platform/http/contract.ts'
import { ListedTicket, priorities, StatusList, ticketChannels } from '../tickets/schema.ts'

const IdsOrNone = (what: string) => CommaList(`ids of ${what}, or none`)
const Minutes = (description: string) =>
  Type.Integer({ minimum: 1, maximum: 525_600, description: `${description}, in minutes` })

/** The filters of a list over all agents, which a view keeps. */
export const filters = {
  agentId: Type.Optional(CommaList('ids of agents')),
  status: Type.Optional(StatusList),
  assigneeId: Type.Optional(CommaList('ids of members, none, or me for the member who is signed in')),
  teamId: Type.Optional(IdsOrNone('teams')),
  priority: Type.Optional(CommaList('how urgent it is', priorities)),
  channel: Type.Optional(CommaList('where the ticket came from', ticketChannels)),
  tag: Type.Optional(CommaList('names of tags, of which it has at least one')),
  language: Type.Optional(CommaList('codes of languages such as en')),
  attribute: Type.Optional(CommaList('attributes of the contact as name:value, all of which must apply')),
  mentionedId: Type.Optional(
    Type.String({ minLength: 1, description: 'A member whom a note mentions, or me' }),
  ),
  unread: Type.Optional(
    Type.Boolean({ description: 'Whether it holds something that the signed-in member has not seen' }),
  ),
  snoozed: Type.Optional(Type.Boolean({ description: 'Whether the ticket is snoozed' })),
  target: Type.Optional(
    OneOf(['missed', 'running'], { description: 'The first target that was not met is past, or to come' }),
  ),
  dueWithin: Type.Optional(Minutes('The next target is due within this time, or was due')),
  waitingFor: Type.Optional(Minutes('The team has kept the customer waiting for at least this time')),
  createdAfter: Type.Optional(DayOrTime('Created at or after')),
  createdBefore: Type.Optional(DayOrTime('Created at or before')),
  spam: Type.Optional(Type.Boolean({ description: 'What was marked as spam, instead of the others' })),
}

const sorts = ['updatedAt', 'createdAt', 'lastMessageAt', 'waitingSince', 'dueAt'] as const

export const order = {
  sortBy: OneOf(sorts, {
    default: 'updatedAt',
    description:
      'Tickets that do not wait, or have no target, come last by waitingSince and dueAt when ascending',
  }),
  order: OneOf(['asc', 'desc'], { default: 'desc' }),
}

export const InboxTicket = Exact({
  agentId: Type.String(),
  ...ListedTicket.properties,
  description: Nullable(Type.String({ description: 'Its first 200 characters' })),
  lastMessage: Nullable(
    Exact({
      text: Type.String({ description: 'Its first 200 characters' }),
      author: OneOf(['customer', 'agent', 'system']),
      name: Nullable(Type.String()),
      at: IsoTime,
    }),
  ),
  tags: Type.Array(Exact({ id: Type.String(), name: Type.String(), color: Type.String() })),
  language: Nullable(Type.String()),
  waitingSince: Nullable(
    Type.String({ format: 'date-time', description: 'null: it does not wait for the team' }),
  ),
  dueAt: Nullable(
    Type.String({
      format: 'date-time',
      description: 'When the first target is due that was not met; null: none',
    }),
  ),
  isUnread: Type.Boolean({
    description: 'It waits for the team and holds something that the signed-in member has not seen',
  }),
})

export const MAX_COUNTED = 1_000

const { createdAfter: _after, createdBefore: _before, ...kept } = filters
/** A view keeps no fixed times. */
export const ViewQuery = Exact({
  ...kept,
  sortBy: Type.Optional(OneOf(sorts)),
  order: Type.Optional(OneOf(['asc', 'desc'])),
})

export const View = Exact({
  id: Type.String(),
  name: Type.String(),
  owner: OneOf(['member', 'team', 'all'], { description: 'Who sees it' }),
  teamId: Nullable(Type.String()),
  query: ViewQuery,
  count: Nullable(
    Type.Integer({
      minimum: 0,
      maximum: MAX_COUNTED,
      description: `How many tickets it holds; ${MAX_COUNTED} means as many or more; null: it depends on the member who reads it`,
    }),
  ),
})
