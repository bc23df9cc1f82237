import { sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import type { DeliveryStatus } from '../../platform/db/tables/deliveries.ts'
import type { Position } from '../../platform/http/pagination.ts'
import type { DeliveryState } from '../tickets/present.ts'
import type { TicketRow } from '../tickets/ticket-queries.ts'
import type { TicketMessageRow } from './add-ticket-message.ts'

type MessageFilter = { types: string[]; order: 'asc' | 'desc' }

/** Returns up to `limit` + 1 messages, and the number of messages of these types. */
export async function messagesOfTicket(
  db: Db,
  ticket: TicketRow,
  { types, order }: MessageFilter,
  { limit, position }: { limit: number; position: Position | null },
): Promise<{ rows: TicketMessageRow[]; total: number }> {
  const [than, direction] = order === 'asc' ? [sql`>`, sql`asc`] : [sql`<`, sql`desc`]
  const own = sql`account_id = ${ticket.account_id} and ticket_id = ${ticket.id} and type = any(${types}::text[])`
  const beyond = position
    ? sql`(created_at, id) ${than} (${position.value}::timestamptz, ${position.id}::uuid)`
    : sql`true`
  const counted = await sql<{ n: number }>`select count(*) as n from ticket_messages where ${own}`.execute(db)
  const { rows } = await sql<TicketMessageRow>`
    select * from ticket_messages where ${own} and ${beyond}
    order by created_at ${direction}, id ${direction} limit ${limit + 1}`.execute(db)
  return { rows, total: Number(counted.rows[0]?.n ?? 0) }
}

/** Returns the delivery statuses of the replies among these messages, by message id. */
export async function deliveriesOf(
  db: Db,
  ticket: TicketRow,
  messages: readonly TicketMessageRow[],
): Promise<Map<string, DeliveryState & { id: string }>> {
  const ids = messages.map(({ id }) => id)
  if (ids.length === 0) return new Map()
  const { rows } = await sql<{ id: string; message: string; status: DeliveryStatus; error: string | null }>`
    select id, ticket_message_id as message, status, error from deliveries
    where account_id = ${ticket.account_id} and ticket_message_id = any(${ids}::uuid[])`.execute(db)
  return new Map(rows.map(({ message, ...state }) => [message, state]))
}

export async function findTicketMessage(
  db: Db,
  ticket: TicketRow,
  messageId: string,
): Promise<TicketMessageRow | undefined> {
  return db
    .selectFrom('ticket_messages')
    .selectAll()
    .where('account_id', '=', ticket.account_id)
    .where('ticket_id', '=', ticket.id)
    .where('id', '=', messageId)
    .executeTakeFirst()
}
