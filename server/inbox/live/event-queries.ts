import { sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'

/** The frames of the events after a number, and the number of the last one. */
type Feed = { text: string; position: number; hasMore: boolean }

const BATCH = 200
const KEPT_HOURS = 24

export async function lastNumber(db: Db, ref: AgentRef): Promise<number> {
  const row = await db
    .selectFrom('helpdesk_streams')
    .select('last_number')
    .where(ofAgent(ref))
    .executeTakeFirst()
  return row?.last_number ?? 0
}

/**
 * Returns the events after `position`. If some of them are no longer stored, or `position` is beyond the last event (as
 * after a restore), it returns the single event `reload` instead. `gone` means that the agent no longer exists.
 */
export async function eventsAfter(
  db: Db,
  { accountId, agentId }: AgentRef,
  position: number,
): Promise<Feed | 'gone'> {
  const { rows } = await sql<{ last: number | null; number: number | null; type: string; data: unknown }>`
    select streams.last_number as last, events.number, events.type, events.data
    from agents left join helpdesk_streams as streams on streams.agent_id = agents.id
    left join lateral (
      select number, type, data from helpdesk_events
      where agent_id = agents.id and number > ${position} order by number limit ${BATCH}
    ) as events on true
    where agents.account_id = ${accountId} and agents.id = ${agentId}
    order by events.number`.execute(db)
  const [first] = rows
  if (!first) return 'gone'
  const last = first.last ?? 0
  if (last === position) return { text: '', position, hasMore: false }
  if (last < position || first.number !== position + 1) {
    return { text: frame(last, 'reload', {}), position: last, hasMore: false }
  }
  const text = rows.map(({ number, type, data }) => frame(number ?? 0, type, data)).join('')
  return { text, position: rows.at(-1)?.number ?? position, hasMore: rows.length === BATCH }
}

const frame = (number: number, type: string, data: unknown): string =>
  `id: ${number}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`

/** Deletes events that are older than a day. Returns their number. */
export async function purgeEvents(db: Db): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('helpdesk_events')
    .where('created_at', '<', sql<Date>`now() - ${KEPT_HOURS} * interval '1 hour'`)
    .executeTakeFirst()
  return Number(numDeletedRows)
}
