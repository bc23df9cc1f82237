import { isDeepStrictEqual } from 'node:util'
import type { Context } from '../../context.ts'
import type { Trx } from '../../db/database.ts'
import type { AgentRef } from '../../db/refs.ts'
import { json } from '../../db/statements/json.ts'
import { transact } from '../../db/statements/transact.ts'
import type { SourceContent } from '../../db/tables/knowledge.ts'
import { type Account, insertSource } from '../sources/add-source.ts'
import { takeRoom } from '../sources/room.ts'
import { TRAIN_SOURCE, type TrainSource } from '../training/enqueue-training.ts'
import type { SolvedTicket } from './solved-tickets.ts'

type Needs = Pick<Context, 'db' | 'jobs'>

/**
 * Makes a ticket's source what the ticket says now; an equal one is left alone. Does nothing when the switch was
 * turned off, or the source deleted by hand, meanwhile. Throws SOURCE_SIZE_LIMIT_EXCEEDED.
 */
export async function keepTicket(
  { db, jobs }: Needs,
  account: Account,
  agentId: string,
  { ticketId, number, subject, question, answer }: SolvedTicket,
): Promise<void> {
  const content: SourceContent = { ticketId, questions: [question], answer, ...(subject ? { subject } : {}) }
  const size = Buffer.byteLength(question + answer)
  const name = subject ? `#${number} ${subject}` : `#${number}`
  await transact(db, async (trx) => {
    if (!(await isWanted(trx, { accountId: account.id, agentId }, ticketId))) return
    const source = await sourceOf(trx, { accountId: account.id, agentId }, ticketId)
    if (!source) {
      const row = { type: 'ticket' as const, name, content: json(content), size }
      await insertSource(trx, jobs, account, agentId, row)
      return
    }
    if (isDeepStrictEqual(source.content, content)) return
    await takeRoom(trx, account, agentId, size, source.id)
    const version = source.content_version + 1
    const status = source.live_version === null ? ('untrained' as const) : ('updated' as const)
    await trx
      .updateTable('sources')
      .set({ name, content: json(content), content_version: version, status, error: null, size })
      .set({ updated_at: new Date() })
      .where('account_id', '=', account.id)
      .where('id', '=', source.id)
      .execute()
    await jobs.enqueue<TrainSource>(trx, TRAIN_SOURCE, { sourceId: source.id, version }, 0, account.id)
  })
}

/** The agent's row is locked: a switch that goes off at the same time waits, and then removes what was added. */
async function isWanted(trx: Trx, { accountId, agentId }: AgentRef, ticketId: string): Promise<boolean> {
  const agent = await trx
    .selectFrom('agents')
    .select('ticket_knowledge')
    .where('account_id', '=', accountId)
    .where('id', '=', agentId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!agent?.ticket_knowledge) return false
  const ticket = await trx
    .selectFrom('tickets')
    .select('id')
    .where('account_id', '=', accountId)
    .where('id', '=', ticketId)
    .where('status_category', '=', 'closed')
    .where('knowledge_excluded', '=', false)
    .executeTakeFirst()
  return ticket !== undefined
}

function sourceOf(trx: Trx, { accountId, agentId }: AgentRef, ticketId: string) {
  return trx
    .selectFrom('sources')
    .select(['id', 'content', 'content_version', 'live_version'])
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
    .where('type', '=', 'ticket')
    .where((eb) => eb(eb.ref('content', '->>').key('ticketId'), '=', ticketId))
    .forNoKeyUpdate()
    .executeTakeFirst()
}
