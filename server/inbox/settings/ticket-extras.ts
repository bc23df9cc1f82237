import type { Db } from '../../platform/db/database.ts'
import type { TicketRow } from '../tickets/ticket-queries.ts'

const iso = (time: Date | null | undefined): string | null => time?.toISOString() ?? null

export async function clocksOf(db: Db, ticket: TicketRow) {
  const rows = await db
    .selectFrom('ticket_clocks')
    .selectAll()
    .where('account_id', '=', ticket.account_id)
    .where('ticket_id', '=', ticket.id)
    .orderBy('started_at')
    .orderBy('kind')
    .execute()
  return rows.map((row) => ({
    kind: row.kind,
    targetMinutes: row.target_minutes,
    startedAt: row.started_at.toISOString(),
    dueAt: iso(row.due_at),
    metAt: iso(row.met_at),
    breached: row.breached_at !== null,
  }))
}

/** All null: the customer has not been asked. */
export async function surveyOf(db: Db, ticket: TicketRow) {
  const row = await db
    .selectFrom('ticket_surveys')
    .selectAll()
    .where('account_id', '=', ticket.account_id)
    .where('ticket_id', '=', ticket.id)
    .executeTakeFirst()
  return {
    sentAt: iso(row?.created_at),
    answeredAt: iso(row?.answered_at),
    rating: row?.rating ?? null,
    comment: row?.comment ?? null,
  }
}
