import { sql } from 'kysely'
import type { SolvedTicket, SolvedTickets, TicketRow } from '../../knowledge/tickets/solved-tickets.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { type AgentRef, ofAgent, ownRow } from '../../platform/db/refs.ts'
import type { MessagePart } from '../../platform/db/tables/conversations.ts'
import { beginningOf, type Person, removePersonal } from './remove-personal.ts'

/** In characters. Shorter replies ("Done!", "You are welcome.") help nobody else. */
const MIN_ANSWER_LENGTH = 40
const MAX_QUESTION_LENGTH = 1_000
const MAX_ANSWER_LENGTH = 20_000

async function closedTickets(
  db: Db,
  ref: AgentRef,
  { below, limit }: { below: number; limit: number },
): Promise<TicketRow[]> {
  return db
    .selectFrom('tickets')
    .selectAll()
    .where(ofAgent(ref))
    .where('status_category', '=', 'closed')
    .where('knowledge_excluded', '=', false)
    .where('number', '<', below)
    .orderBy('number', 'desc')
    .limit(limit)
    .execute()
}

async function solvedTicket(db: Db, ticket: TicketRow): Promise<SolvedTicket | null> {
  const messages = await messagesOf(db, ticket)
  const first = messages.findIndex(({ isReply }) => isReply)
  const asked = messages.slice(0, Math.max(first, 0)).filter(({ role }) => role === 'user')
  const person = await personOf(db, ticket)
  const clean = (text: string, longest: number): string =>
    removePersonal(beginningOf(text.trim(), longest * 4), person)
      .trim()
      .slice(0, longest)
      .toWellFormed()
  const question = clean(ticket.description ?? asked.map(({ text }) => text).join('\n'), MAX_QUESTION_LENGTH)
  const replies = messages.filter(({ isReply }) => isReply).map(({ text }) => text)
  const answer = clean(replies.join('\n\n'), MAX_ANSWER_LENGTH)
  if (question === '' || answer.length < MIN_ANSWER_LENGTH) return null
  const subject = ticket.subject === null ? null : clean(ticket.subject, 200)
  return { ticketId: ticket.id, number: ticket.number, subject, question, answer }
}

type TalkMessage = { role: 'user' | 'assistant'; isReply: boolean; text: string }

/**
 * Returns the messages of the ticket's conversation up to its next ticket. A reply is a team member's message that was
 * written for this ticket and not rated down.
 */
async function messagesOf(db: Db, ticket: TicketRow): Promise<TalkMessage[]> {
  if (ticket.conversation_id === null) return []
  const rows = await db
    .selectFrom('messages')
    .select(['role', 'parts', 'feedback', 'created_at'])
    .select(sql<boolean>`metadata -> 'author' ->> 'type' is not distinct from 'human_agent'`.as('is_human'))
    .where('account_id', '=', ticket.account_id)
    .where('conversation_id', '=', ticket.conversation_id)
    .where(
      sql<boolean>`created_at < coalesce((select min(later.created_at) from tickets as later
        where later.account_id = ${ticket.account_id} and later.conversation_id = ${ticket.conversation_id} and later.number > ${ticket.number}), 'infinity')`,
    )
    .orderBy('seq')
    .execute()
  return rows
    .filter(({ role, is_human }) => role === 'user' || is_human)
    .map((row) => ({
      role: row.role,
      isReply: row.is_human && row.feedback !== 'negative' && row.created_at >= ticket.created_at,
      text: textOf(row.parts),
    }))
}

async function personOf(db: Db, { account_id, conversation_id, customer }: TicketRow): Promise<Person> {
  const leads =
    conversation_id === null
      ? []
      : await db
          .selectFrom('leads')
          .select(['name', 'email', 'phone'])
          .where('account_id', '=', account_id)
          .where('conversation_id', '=', conversation_id)
          .execute()
  const given = (values: (string | null)[]): string[] => values.filter((value) => value !== null)
  return {
    names: given([customer.name, ...leads.map(({ name }) => name)]),
    others: given([
      customer.id,
      customer.email,
      customer.phoneNumber,
      ...leads.flatMap(({ email, phone }) => [email, phone]),
    ]),
  }
}

const textOf = (parts: MessagePart[]): string =>
  parts
    .map((part) => (part.type === 'text' ? part.text : ''))
    .filter(Boolean)
    .join('\n')

async function isWanted(trx: Trx, { accountId }: AgentRef, ticketId: string): Promise<boolean> {
  const ticket = await trx
    .selectFrom('tickets')
    .select('id')
    .where(ownRow(accountId, ticketId))
    .where('status_category', '=', 'closed')
    .where('knowledge_excluded', '=', false)
    .executeTakeFirst()
  return ticket !== undefined
}

async function closedAmong(
  trx: Trx,
  { accountId }: AgentRef,
  ticketIds: readonly string[],
): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    select id from tickets
    where account_id = ${accountId} and id = any(${ticketIds}::uuid[]) and status_category = 'closed'`.execute(
    trx,
  )
  return new Set(rows.map(({ id }) => id))
}

async function excludeTicket(trx: Trx, ref: AgentRef, ticketId: string): Promise<void> {
  await trx
    .updateTable('tickets')
    .set({ knowledge_excluded: true })
    .where(ofAgent(ref))
    .where('id', '=', ticketId)
    .execute()
}

export const solvedTickets: SolvedTickets = {
  closed: closedTickets,
  read: solvedTicket,
  isWanted,
  closedAmong,
  exclude: excludeTicket,
}
