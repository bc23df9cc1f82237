import { isDeepStrictEqual } from 'node:util'
import type { Context } from '../../context.ts'
import type { Trx } from '../../platform/db/database.ts'
import { type AgentRef, ofAgent, ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { SourceContent } from '../../platform/db/tables/knowledge.ts'
import { type Account, insertSource } from '../sources/add-source.ts'
import { reserveStorage } from '../sources/storage-limit.ts'
import { type TrainSource, trainingTask } from '../training/enqueue-training.ts'
import type { SolvedTicket, SolvedTickets } from './solved-tickets.ts'

type Deps = Pick<Context, 'db' | 'jobs'> & { solvedTickets: SolvedTickets }

/**
 * Adds or updates the source of a ticket. Does nothing when the source is up to date, or when the switch was turned off
 * or the source deleted by hand meanwhile. Throws SOURCE_SIZE_LIMIT_EXCEEDED.
 */
export async function keepTicket(
  { db, jobs, solvedTickets }: Deps,
  account: Account,
  agentId: string,
  { ticketId, number, subject, question, answer }: SolvedTicket,
): Promise<void> {
  const content: SourceContent = { ticketId, questions: [question], answer, ...(subject ? { subject } : {}) }
  const size = Buffer.byteLength(question + answer)
  const name = subject ? `#${number} ${subject}` : `#${number}`
  await transact(db, async (trx) => {
    const agent = { accountId: account.id, agentId }
    if (!(await isSwitchedOn(trx, agent)) || !(await solvedTickets.isWanted(trx, agent, ticketId))) return
    const source = await sourceOf(trx, { accountId: account.id, agentId }, ticketId)
    if (!source) {
      const row = { type: 'ticket' as const, name, content: json(content), size }
      await insertSource(trx, jobs, account, agentId, row)
      return
    }
    if (isDeepStrictEqual(source.content, content)) return
    await reserveStorage(trx, account, agentId, size, source.id)
    const version = source.content_version + 1
    const status = source.live_version === null ? ('untrained' as const) : ('updated' as const)
    await trx
      .updateTable('sources')
      .set({ name, content: json(content), content_version: version, status, error: null, size })
      .set({ updated_at: new Date() })
      .where(ownRow(account.id, source.id))
      .execute()
    await jobs.enqueue<TrainSource>(
      trx,
      trainingTask({ type: 'ticket', content }),
      { sourceId: source.id, version },
      0,
      account.id,
    )
  })
}

/**
 * Locks the agent's row. A request that switches it off at the same time waits, and then removes what was added.
 */
async function isSwitchedOn(trx: Trx, { accountId, agentId }: AgentRef): Promise<boolean> {
  const agent = await trx
    .selectFrom('agents')
    .select('ticket_knowledge')
    .where(ownRow(accountId, agentId))
    .forNoKeyUpdate()
    .executeTakeFirst()
  return agent?.ticket_knowledge ?? false
}

function sourceOf(trx: Trx, { accountId, agentId }: AgentRef, ticketId: string) {
  return trx
    .selectFrom('sources')
    .select(['id', 'content', 'content_version', 'live_version'])
    .where(ofAgent({ accountId, agentId }))
    .where('type', '=', 'ticket')
    .where((eb) => eb(eb.ref('content', '->>').key('ticketId'), '=', ticketId))
    .forNoKeyUpdate()
    .executeTakeFirst()
}
