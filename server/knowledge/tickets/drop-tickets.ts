import { sql } from 'kysely'
import type { Db, Trx } from '../../db/database.ts'
import type { AccountId } from '../../db/tables.ts'
import { transact } from '../../db/transact.ts'
import { moveKnowledge } from '../queries.ts'

/** Takes all ticket sources of an agent out of its answers. */
export async function dropAllTickets(trx: Trx, accountId: AccountId, agentId: string): Promise<void> {
  const { numDeletedRows } = await trx
    .deleteFrom('sources')
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
    .where('type', '=', 'ticket')
    .executeTakeFirst()
  if (numDeletedRows > 0n) await moveKnowledge(trx, accountId, agentId)
}

/** Takes out those whose ticket is not solved any longer, does not exist, or is among `useless`. */
export async function dropStaleTickets(
  db: Db,
  accountId: AccountId,
  agentId: string,
  useless: readonly string[],
): Promise<void> {
  await transact(db, async (trx) => {
    // In a clone the tickets are those of the original.
    const { numDeletedRows } = await trx
      .deleteFrom('sources')
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
      .executeTakeFirst()
    if (numDeletedRows > 0n) await moveKnowledge(trx, accountId, agentId)
  })
}
