import { sql } from 'kysely'
import { holdAgent } from '../../agents/records/find-agent.ts'
import { moveKnowledge } from '../../agents/records/knowledge-state.ts'
import type { Db, Trx } from '../../db/database.ts'
import type { AgentRef } from '../../db/refs.ts'
import { transact } from '../../db/statements/transact.ts'

/** Takes all ticket sources of an agent, which is held, out of its answers. */
export async function dropAllTickets(trx: Trx, { accountId, agentId }: AgentRef): Promise<void> {
  const sources = await trx
    .selectFrom('sources')
    .select('id')
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
    .where('type', '=', 'ticket')
    .orderBy('id')
    .forUpdate()
    .execute()
  await drop(trx, { accountId, agentId }, sources)
}

async function drop(trx: Trx, { accountId, agentId }: AgentRef, sources: { id: string }[]): Promise<void> {
  if (sources.length === 0) return
  const ids = sources.map(({ id }) => id)
  await trx.deleteFrom('sources').where('account_id', '=', accountId).where('id', 'in', ids).execute()
  await moveKnowledge(trx, { accountId, agentId })
}

/** Takes out those whose ticket is not solved any longer, does not exist, or is among `useless`. */
export async function dropStaleTickets(
  db: Db,
  { accountId, agentId }: AgentRef,
  useless: readonly string[],
): Promise<void> {
  await transact(db, async (trx) => {
    // In a clone the tickets are those of the original.
    await holdAgent(trx, { accountId, agentId })
    const sources = await trx
      .selectFrom('sources')
      .select('id')
      .where('account_id', '=', accountId)
      .where('agent_id', '=', agentId)
      .where('type', '=', 'ticket')
      .where((eb) =>
        eb.or([
          eb(eb.ref('content', '->>').key('ticketId'), 'in', [...useless, '']),
          sql<boolean>`not exists (select from tickets
            where tickets.account_id = sources.account_id and tickets.id = (sources.content ->> 'ticketId')::uuid
              and tickets.status_category = 'closed')`,
        ]),
      )
      .orderBy('id')
      .forUpdate()
      .execute()
    await drop(trx, { accountId, agentId }, sources)
  })
}
