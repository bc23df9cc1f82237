import type { Selectable } from 'kysely'
import type { Db, Trx } from '../../platform/db/database.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import type { TicketsTable } from '../../platform/db/tables/helpdesk.ts'

export type TicketRow = Selectable<TicketsTable>

/** What a solved ticket teaches, without personal data. */
export type SolvedTicket = {
  ticketId: string
  number: number
  subject: string | null
  question: string
  answer: string
}

/** What the knowledge needs of the help desk, which is above it (server/reactions.ts). */
export type SolvedTickets = {
  /** Returns a page of an agent's closed tickets below the given number, newest first. */
  closed(db: Db, agent: AgentRef, page: { below: number; limit: number }): Promise<TicketRow[]>
  /** Returns null when no reply of the team may help others, or the question is not known. */
  read(db: Db, ticket: TicketRow): Promise<SolvedTicket | null>
  /** Returns whether a ticket may be a source: it is closed and not excluded. */
  isWanted(trx: Trx, agent: AgentRef, ticketId: string): Promise<boolean>
  /** Returns the ids of those tickets that are closed. */
  closedAmong(trx: Trx, agent: AgentRef, ticketIds: readonly string[]): Promise<Set<string>>
  /** Keeps a ticket from becoming a source again. */
  exclude(trx: Trx, agent: AgentRef, ticketId: string): Promise<void>
}
