import type { Selectable } from 'kysely'
import type { Db, Trx } from '../../db/database.ts'
import type { AgentRef } from '../../db/refs.ts'
import { statement, type Values } from '../../db/statements/statement.ts'
import type { AgentsTable } from '../../db/tables/agents.ts'
import { ApiError } from '../../http/errors.ts'

export type AgentRow = Selectable<AgentsTable>

const select = (lock: 'none' | 'share' | 'update') =>
  statement(({ accountId, agentId }: Values<AgentRef>, db) => {
    const query = db
      .selectFrom('agents')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('id', '=', agentId)
    if (lock === 'share') return query.forShare()
    return lock === 'update' ? query.forNoKeyUpdate() : query
  })

const SELECT = { none: select('none'), share: select('share'), update: select('update') }

/**
 * The account's agent; an agent of somebody else is as unknown as one that never was: AGENT_NOT_FOUND.
 * With a lock it stays as it is (`share`), or the caller's to change (`update`), until the transaction ends.
 */
export async function requireAgent(
  db: Db,
  { accountId, agentId }: AgentRef,
  lock: 'none' | 'share' | 'update' = 'none',
): Promise<AgentRow> {
  const { rows } = await SELECT[lock](db, { accountId, agentId })
  const row = rows[0]
  if (!row) throw new ApiError('AGENT_NOT_FOUND')
  return row
}

/**
 * Takes the agent's row before anything that belongs to the agent is changed (docs/decisions/0019); rows that only
 * refer to the agent can still be written meanwhile. undefined: the agent is gone.
 */
export async function holdAgent(trx: Trx, { accountId, agentId }: AgentRef): Promise<AgentRow | undefined> {
  return trx
    .selectFrom('agents')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('id', '=', agentId)
    .forNoKeyUpdate()
    .executeTakeFirst()
}
