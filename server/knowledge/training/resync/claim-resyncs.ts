import { sql } from 'kysely'
import type { Context } from '../../../context.ts'
import type { Trx } from '../../../platform/db/database.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import { GATHER_TICKETS, type GatherTickets } from '../../tickets/gather-tickets.ts'
import { agentReSyncs, sourceReSyncs } from './eligible.ts'

/** The background job that checks whether a source's origin has changed. */
export const SYNC_SOURCE = 'sync-source'

export type SyncSource = { sourceId: string }

/** A check that failed, or whose process died, is repeated. */
const RETRY_MS = 86_400_000

type Deps = Pick<Context, 'db' | 'jobs'>
type Due = { id: string; wanted: boolean }

/** The most that one process claims in a minute, so that a backlog after a long stop is processed gradually. */
const AT_ONCE = 50

/**
 * Claims the due sources and enqueues them, each once, in any number of processes. Sources whose re-sync was
 * switched off are no longer planned. Returns the number of jobs.
 */
export async function claimDueSyncs({ db, jobs }: Deps, now = new Date()): Promise<number> {
  return transact(db, async (trx) => {
    const sources = await dueSources(trx, now)
    for (const sourceId of sources) await jobs.enqueue<SyncSource>(trx, SYNC_SOURCE, { sourceId })
    const agents = await dueAgents(trx, now)
    for (const agentId of agents) await jobs.enqueue<GatherTickets>(trx, GATHER_TICKETS, { agentId })
    return sources.length + agents.length
  })
}

async function dueSources(trx: Trx, now: Date): Promise<string[]> {
  const { rows } = await sql<Due>`
    select sources.id, ${sourceReSyncs()} as wanted from sources
    join agents on agents.id = sources.agent_id
    join accounts on accounts.id = agents.account_id
    where sources.next_sync_at <= ${now}
    order by sources.next_sync_at limit ${sql.lit(AT_ONCE)} for no key update of sources skip locked`.execute(
    trx,
  )
  const again = new Date(now.getTime() + RETRY_MS)
  for (const { id, wanted } of rows) {
    await trx
      .updateTable('sources')
      .set({ next_sync_at: wanted ? again : null })
      .where('id', '=', id)
      .execute()
  }
  return wantedOf(rows)
}

async function dueAgents(trx: Trx, now: Date): Promise<string[]> {
  const { rows } = await sql<Due>`
    select agents.id, agents.ticket_knowledge and ${agentReSyncs()} as wanted from agents
    join accounts on accounts.id = agents.account_id
    where agents.next_ticket_sync_at <= ${now}
    order by agents.next_ticket_sync_at limit ${sql.lit(AT_ONCE)} for no key update of agents skip locked`.execute(
    trx,
  )
  const again = new Date(now.getTime() + RETRY_MS)
  for (const { id, wanted } of rows) {
    await trx
      .updateTable('agents')
      .set({ next_ticket_sync_at: wanted ? again : null })
      .where('id', '=', id)
      .execute()
  }
  return wantedOf(rows)
}

const wantedOf = (rows: Due[]): string[] => rows.filter(({ wanted }) => wanted).map(({ id }) => id)
