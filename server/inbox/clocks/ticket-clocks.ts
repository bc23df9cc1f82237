import type { Selectable } from 'kysely'
import type { Trx } from '../../platform/db/database.ts'
import { ownRow } from '../../platform/db/refs.ts'
import type {
  ClockKind,
  HelpdeskSettingsTable,
  StatusCategory,
  TicketClocksTable,
} from '../../platform/db/tables/helpdesk.ts'
import { isOver, type TicketRow } from '../tickets/ticket-queries.ts'
import { type BusinessTime, businessTime, minutes } from './business-time.ts'

type Clock = Selectable<TicketClocksTable>
type ClockedTicket = Pick<TicketRow, 'id' | 'account_id' | 'agent_id' | 'priority' | 'status_category'>

/** The statuses in which the team can do nothing, so that the clock until the solution is paused. */
const STANDS_STILL: readonly StatusCategory[] = ['on_customer', 'on_hold']

type Rules = { time: BusinessTime; targetOf(kind: ClockKind): number | undefined }

/** Returns null when the agent's tickets have no targets. */
async function rulesOf(trx: Trx, ticket: ClockedTicket): Promise<Rules | null> {
  const settings: Selectable<HelpdeskSettingsTable> | undefined = await trx
    .selectFrom('helpdesk_settings')
    .selectAll()
    .where('account_id', '=', ticket.account_id)
    .where('agent_id', '=', ticket.agent_id)
    .executeTakeFirst()
  if (!settings) return null
  const targets = settings.targets[ticket.priority] ?? {}
  return { time: businessTime(settings.business_hours), targetOf: (kind) => targets[kind] }
}

/** Starts the clocks of a new ticket. */
export async function startClocks(trx: Trx, ticket: ClockedTicket): Promise<void> {
  const rules = isOver(ticket.status_category) ? null : await rulesOf(trx, ticket)
  if (!rules) return
  await start(trx, ticket, rules, 'first_response')
  await start(trx, ticket, rules, 'resolution')
  if (STANDS_STILL.includes(ticket.status_category)) await stop(trx, ticket, rules)
  await noteDue(trx, ticket)
}

/** Starts the clock of the next answer. The first answer has a clock of its own. */
export async function clocksAfterCustomer(trx: Trx, ticket: ClockedTicket): Promise<void> {
  const rules = await rulesOf(trx, ticket)
  if (!rules) return
  const first = await clockOf(trx, ticket, 'first_response')
  if (first && first.met_at === null) return
  const next = await clockOf(trx, ticket, 'next_response')
  if (next && next.met_at === null) return
  await start(trx, ticket, rules, 'next_response')
  await noteDue(trx, ticket)
}

export async function clocksAfterReply(trx: Trx, ticket: ClockedTicket): Promise<void> {
  await meet(trx, ticket, ['first_response', 'next_response'])
}

export async function clocksAfterMove(
  trx: Trx,
  ticket: ClockedTicket,
  before: StatusCategory,
): Promise<void> {
  const now = ticket.status_category
  if (isOver(now)) return meet(trx, ticket, ['first_response', 'next_response', 'resolution'])
  const rules = await rulesOf(trx, ticket)
  if (!rules) return
  if (isOver(before)) await start(trx, ticket, rules, 'resolution')
  if (STANDS_STILL.includes(now)) await stop(trx, ticket, rules)
  else await resumeClocks(trx, ticket, rules)
  await noteDue(trx, ticket)
}

/** Changes the targets. The time that has passed still counts. */
export async function clocksAfterPriority(trx: Trx, ticket: ClockedTicket): Promise<void> {
  const rules = isOver(ticket.status_category) ? null : await rulesOf(trx, ticket)
  if (!rules) return
  for (const kind of ['first_response', 'next_response', 'resolution'] as const) {
    const clock = await clockOf(trx, ticket, kind)
    const target = rules.targetOf(kind)
    if (!clock) {
      if (kind === 'resolution') await start(trx, ticket, rules, kind)
      continue
    }
    if (clock.met_at !== null || clock.breached_at !== null || clock.target_minutes === target) continue
    if (target === undefined) await drop(trx, ticket, kind)
    else {
      const change = minutes(target - clock.target_minutes)
      const left = (clock.left_ms ?? rules.time.between(Date.now(), timeOf(clock.due_at))) + change
      await set(trx, ticket, kind, {
        target_minutes: target,
        ...(clock.due_at === null
          ? { left_ms: Math.max(0, left) }
          : { due_at: new Date(rules.time.add(Date.now(), Math.max(0, left))) }),
      })
    }
  }
  if (STANDS_STILL.includes(ticket.status_category)) await stop(trx, ticket, rules)
  await noteDue(trx, ticket)
}

/** Notes at the ticket when the first of its targets is due, which lists are ordered by. */
async function noteDue(trx: Trx, { id, account_id }: ClockedTicket): Promise<void> {
  await trx
    .updateTable('tickets')
    .set((eb) => ({
      due_at: eb
        .selectFrom('ticket_clocks')
        .select((clock) => clock.fn.min('due_at').as('due_at'))
        .where('account_id', '=', account_id)
        .where('ticket_id', '=', id)
        .where('met_at', 'is', null),
    }))
    .where(ownRow(account_id, id))
    .execute()
}

async function start(
  trx: Trx,
  ticket: ClockedTicket,
  { time, targetOf }: Rules,
  kind: ClockKind,
): Promise<void> {
  const target = targetOf(kind)
  if (target === undefined) return drop(trx, ticket, kind)
  const now = new Date()
  const clock = {
    target_minutes: target,
    started_at: now,
    due_at: new Date(time.add(now.getTime(), minutes(target))),
    left_ms: null,
    met_at: null,
    breached_at: null,
  }
  await trx
    .insertInto('ticket_clocks')
    .values({
      ticket_id: ticket.id,
      kind,
      account_id: ticket.account_id,
      agent_id: ticket.agent_id,
      ...clock,
    })
    .onConflict((conflict) => conflict.columns(['ticket_id', 'kind']).doUpdateSet(clock))
    .execute()
}

/** Only the clock until the solution can be paused. An answer is due whatever the status of the ticket is. */
async function stop(trx: Trx, ticket: ClockedTicket, { time }: Rules): Promise<void> {
  const clock = await clockOf(trx, ticket, 'resolution')
  if (!clock?.due_at || clock.met_at !== null || clock.breached_at !== null) return
  const left = Math.max(0, time.between(Date.now(), clock.due_at.getTime()))
  await set(trx, ticket, 'resolution', { due_at: null, left_ms: left })
}

async function resumeClocks(trx: Trx, ticket: ClockedTicket, { time }: Rules): Promise<void> {
  const clock = await clockOf(trx, ticket, 'resolution')
  if (clock?.left_ms == null || clock.met_at !== null) return
  await set(trx, ticket, 'resolution', {
    due_at: new Date(time.add(Date.now(), clock.left_ms)),
    left_ms: null,
  })
}

/** A target that was met too late counts as breached even if no recurring job had marked it yet. */
async function meet(trx: Trx, ticket: ClockedTicket, kinds: ClockKind[]): Promise<void> {
  const now = new Date()
  await trx
    .updateTable('ticket_clocks')
    .set((eb) => ({
      met_at: now,
      breached_at: eb
        .case()
        .when(eb.and([eb('breached_at', 'is', null), eb('due_at', '<', now)]))
        .then(eb.ref('due_at'))
        .else(eb.ref('breached_at'))
        .end(),
    }))
    .where('account_id', '=', ticket.account_id)
    .where('ticket_id', '=', ticket.id)
    .where('kind', 'in', kinds)
    .where('met_at', 'is', null)
    .execute()
  await noteDue(trx, ticket)
}

const timeOf = (time: Date | null): number => time?.getTime() ?? Date.now()

async function clockOf(
  trx: Trx,
  { id, account_id }: ClockedTicket,
  kind: ClockKind,
): Promise<Clock | undefined> {
  return trx
    .selectFrom('ticket_clocks')
    .selectAll()
    .where('account_id', '=', account_id)
    .where('ticket_id', '=', id)
    .where('kind', '=', kind)
    .executeTakeFirst()
}

async function set(
  trx: Trx,
  { id, account_id }: ClockedTicket,
  kind: ClockKind,
  values: Partial<Clock>,
): Promise<void> {
  await trx
    .updateTable('ticket_clocks')
    .set(values)
    .where('account_id', '=', account_id)
    .where('ticket_id', '=', id)
    .where('kind', '=', kind)
    .execute()
}

async function drop(trx: Trx, { id, account_id }: ClockedTicket, kind: ClockKind): Promise<void> {
  await trx
    .deleteFrom('ticket_clocks')
    .where('account_id', '=', account_id)
    .where('ticket_id', '=', id)
    .where('kind', '=', kind)
    .execute()
}
