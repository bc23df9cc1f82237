import { requireAgent } from '../../agents/records/find-agent.ts'
import { channelNames } from '../../agents/settings/channel-names.ts'
import { chatChannel } from '../../agents/settings/chat-channel.ts'
import { WIDGET } from '../../conversations/records/queries.ts'
import { noteTicket } from '../../conversations/records/set-status.ts'
import type { Trx } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import type { Notifier } from '../../platform/db/notifier.ts'
import { type AgentRef, type ConversationRef, ofAgent, ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { Customer, Priority, StatusCategory } from '../../platform/db/tables/helpdesk.ts'
import { guessLanguage } from '../../platform/text/languages/language.ts'
import { startClocks } from '../clocks/ticket-clocks.ts'
import { applyTicketChange, defaultStatus } from './apply-ticket-change.ts'
import { publishDeskEvent } from './publish-desk-event.ts'
import { leastLoaded } from './route-ticket.ts'
import type { ticketChannels } from './schema.ts'
import { ensureStatuses } from './statuses.ts'
import { openTicketOf, ownerOf, type TicketRow, WAITING } from './ticket-queries.ts'

type NewTicket = {
  accountId: AccountId
  agentId: string
  conversationId: string
  subject: string | null
  description: string | null
  customer: Customer
  assigneeId: string | null
}

type TicketChannel = (typeof ticketChannels)[number]

/** The channel of a ticket by the source of its conversation. */
const CHANNELS = new Map<string, TicketChannel>([
  ['API', 'api'],
  ['Iframe', 'iframe'],
  ['Phone', 'phone'],
  ['Agent page', 'center_stage'],
  ...channelNames.map(({ source, ticket }) => [source, ticket] as const),
])

export async function ticketChannel(
  trx: Trx,
  { accountId, agentId }: AgentRef,
  source: string,
): Promise<TicketChannel> {
  if (source !== WIDGET) return CHANNELS.get(source) ?? 'helpdesk'
  return chatChannel(await requireAgent(trx, { accountId, agentId })) === 'center_stage'
    ? 'center_stage'
    : 'iframe'
}

/**
 * Returns the conversation's open ticket: the existing one, assigned to `assigneeId` if that is set, or a new one,
 * which goes to the least loaded member who is present if no assignee is given. Notifies everybody who follows the
 * help desk, so it must be the last step of its transaction.
 */
export async function openTicket(
  // It is not part of Context, whose type is inferred from a call of this function.
  ctx: { notifier: Pick<Notifier, 'publish'> },
  trx: Trx,
  wanted: NewTicket,
): Promise<{ ticketNumber: number; isNew: boolean }> {
  const { ticket, isNew } = await ensureTicket(trx, wanted)
  const { accountId, agentId } = wanted
  await publishDeskEvent(
    ctx,
    trx,
    { accountId, agentId },
    { type: 'ticket', data: { ticketNumber: ticket.number } },
  )
  return { ticketNumber: ticket.number, isNew }
}

/** Returns the open ticket of a conversation; if there is none, opens one for its customer. Sends no notification. */
export async function ensureTicketOf(
  trx: Trx,
  { accountId, agentId, conversationId }: ConversationRef,
  description: string,
): Promise<TicketRow> {
  const { title, user_id } = await trx
    .selectFrom('conversations')
    .select(['title', 'user_id'])
    .where(ownRow(accountId, conversationId))
    .executeTakeFirstOrThrow()
  const { ticket } = await ensureTicket(trx, {
    accountId,
    agentId,
    conversationId,
    subject: title,
    description,
    customer: { id: user_id, name: null, email: null, phoneNumber: null },
    assigneeId: null,
  })
  return ticket
}

/** Returns the open ticket or opens one, without a notification. Locks the conversation's row unless it is already locked. */
export async function ensureTicket(
  trx: Trx,
  wanted: NewTicket,
): Promise<{ ticket: TicketRow; isNew: boolean }> {
  const { accountId, conversationId, assigneeId } = wanted
  const conversation = await trx
    .selectFrom('conversations')
    .select(['source', 'user_id', 'contact_id'])
    .where(ownRow(accountId, conversationId))
    .forNoKeyUpdate()
    .executeTakeFirst()
  const open = await openTicketOf(trx, accountId, conversationId)
  if (open) {
    if (assigneeId === null) return { ticket: open, isNew: false }
    const picked =
      open.status_category === 'new' ? { status: await defaultStatus(trx, ownerOf(open), 'on_you') } : {}
    return { ticket: await applyTicketChange(trx, open, { assigneeId, ...picked }, assigneeId), isNew: false }
  }
  const customer = await completed(trx, accountId, wanted.customer, conversation)
  const ticket = await insertTicket(trx, {
    ...wanted,
    customer,
    channel: await ticketChannel(trx, wanted, conversation?.source ?? 'API'),
    status: assigneeId === null ? 'new' : 'on_you',
    assigneeId: assigneeId ?? undefined,
  })
  return { ticket, isNew: true }
}

/** Adds the contact's data that was not given when the ticket was opened. */
async function completed(
  trx: Trx,
  accountId: AccountId,
  customer: Customer,
  conversation: { user_id: string | null; contact_id: string | null } | undefined,
): Promise<Customer> {
  const contact = conversation?.contact_id
    ? await trx
        .selectFrom('contacts')
        .select(['external_id', 'name', 'email', 'phonenumber'])
        .where(ownRow(accountId, conversation.contact_id))
        .executeTakeFirst()
    : undefined
  return {
    id: customer.id ?? conversation?.user_id ?? contact?.external_id ?? null,
    name: customer.name ?? contact?.name ?? null,
    email: customer.email ?? contact?.email ?? null,
    phoneNumber: customer.phoneNumber ?? contact?.phonenumber ?? null,
  }
}

type InsertedTicket = {
  accountId: AccountId
  agentId: string
  conversationId: string | null
  subject: string | null
  description: string | null
  customer: Customer
  channel: string
  status: StatusCategory
  /** The status; null means the default of the category. */
  statusId?: string | null
  teamId?: string | null
  priority?: Priority
  /** The assignee; null means none, and undefined the least loaded member. */
  assigneeId: string | null | undefined
}

function languageOf({ subject, description }: InsertedTicket): string | null {
  const language = guessLanguage(`${subject ?? ''}\n${description ?? ''}`)
  return language === 'other' ? null : language
}

/** Adds a ticket and starts its clocks. The caller has locked its conversation. The agent's row is locked, because the ticket's number depends on it. */
export async function insertTicket(trx: Trx, wanted: InsertedTicket): Promise<TicketRow> {
  const { accountId, agentId, conversationId, teamId = null } = wanted
  if (conversationId !== null) await noteTicket(trx, accountId, conversationId)
  await requireAgent(trx, { accountId, agentId }, 'update')
  await ensureStatuses(trx, { accountId, agentId })
  const { last } = await trx
    .selectFrom('tickets')
    .select((eb) => eb.fn.coalesce(eb.fn.max('number'), eb.lit(0)).as('last'))
    .where(ofAgent({ accountId, agentId }))
    .executeTakeFirstOrThrow()
  const { assigneeId = await leastLoaded(trx, accountId, teamId) } = wanted
  const ticket = await trx
    .insertInto('tickets')
    .values({
      id: newId(),
      account_id: accountId,
      agent_id: agentId,
      number: Number(last) + 1,
      subject: wanted.subject,
      description: wanted.description,
      status_category: wanted.status,
      status_id: wanted.statusId ?? (await defaultStatus(trx, { accountId, agentId }, wanted.status)).id,
      assignee_id: assigneeId,
      team_id: teamId,
      customer: json(wanted.customer),
      metadata: json({}),
      channel: wanted.channel,
      conversation_id: conversationId,
      priority: wanted.priority ?? 'none',
      waiting_since: WAITING.includes(wanted.status) ? new Date() : null,
      language: languageOf(wanted),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await startClocks(trx, ticket)
  return ticket
}
