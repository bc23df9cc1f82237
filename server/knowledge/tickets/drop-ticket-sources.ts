import { holdAgent } from '../../agents/records/find-agent.ts'
import { bumpKnowledgeVersion } from '../../agents/records/knowledge-state.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { SolvedTickets } from './solved-tickets.ts'

/** Deletes all ticket sources of an agent. The caller has locked the agent. */
export async function dropAllTickets(trx: Trx, ref: AgentRef): Promise<void> {
  const sources = await trx
    .selectFrom('sources')
    .select('id')
    .where(ofAgent(ref))
    .where('type', '=', 'ticket')
    .orderBy('id')
    .forUpdate()
    .execute()
  await drop(trx, ref, sources)
}

async function drop(trx: Trx, { accountId, agentId }: AgentRef, sources: { id: string }[]): Promise<void> {
  if (sources.length === 0) return
  const ids = sources.map(({ id }) => id)
  await trx.deleteFrom('sources').where('account_id', '=', accountId).where('id', 'in', ids).execute()
  await bumpKnowledgeVersion(trx, { accountId, agentId })
}

/** Deletes the sources whose ticket is no longer solved, does not exist, or is among `useless`. */
export async function dropStaleTickets(
  { db, solvedTickets }: { db: Db; solvedTickets: SolvedTickets },
  ref: AgentRef,
  useless: readonly string[],
): Promise<void> {
  await transact(db, async (trx) => {
    await holdAgent(trx, ref)
    const sources = await trx
      .selectFrom('sources')
      .select(['id', 'content'])
      .where(ofAgent(ref))
      .where('type', '=', 'ticket')
      .orderBy('id')
      .forUpdate()
      .execute()
    const ticketIds = sources.flatMap(({ content }) => content.ticketId ?? [])
    // The tickets of a clone's sources are those of the original agent.
    const closed = await solvedTickets.closedAmong(trx, ref, ticketIds)
    const isStale = (ticketId = ''): boolean => !closed.has(ticketId) || useless.includes(ticketId)
    const stale = sources.filter(({ content }) => isStale(content.ticketId))
    await drop(trx, ref, stale)
  })
}
