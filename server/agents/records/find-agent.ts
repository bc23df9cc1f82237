import type { Selectable } from 'kysely'
import type { Db, Trx } from '../../platform/db/database.ts'
import { type AgentRef, ownRow } from '../../platform/db/refs.ts'
import type { AgentsTable, Guardrails } from '../../platform/db/tables/agents.ts'
import { ApiError } from '../../platform/http/errors.ts'

export type AgentRow = Selectable<AgentsTable>

/**
 * Returns the account's agent. Throws AGENT_NOT_FOUND, also for an agent of another account. A lock keeps others
 * from changing the agent (`share`), or reserves the change for this transaction (`update`), until the transaction
 * ends.
 */
export async function requireAgent(
  db: Db,
  { accountId, agentId }: AgentRef,
  lock: 'none' | 'share' | 'update' = 'none',
): Promise<AgentRow> {
  const query = db
    .selectFrom('agents')
    .selectAll()
    .where(ownRow(accountId, agentId))
    .$if(lock === 'share', (locked) => locked.forShare())
    .$if(lock === 'update', (locked) => locked.forNoKeyUpdate())
  const row = await query.executeTakeFirst()
  if (!row) throw new ApiError('AGENT_NOT_FOUND')
  return row
}

/**
 * Locks the agent's row, which must be done before anything that belongs to the agent is changed
 * (docs/decisions/0019). Rows that only refer to the agent can still be written meanwhile. Returns undefined when
 * the agent has been deleted.
 */
export async function holdAgent(trx: Trx, { accountId, agentId }: AgentRef): Promise<AgentRow | undefined> {
  return trx
    .selectFrom('agents')
    .selectAll()
    .where(ownRow(accountId, agentId))
    .forNoKeyUpdate()
    .executeTakeFirst()
}

/** An agent whose owner has set none. */
const NO_GUARDRAILS: Guardrails = { budget: null, forbiddenTopics: [], ungrounded: 'mark' }

export const guardrailsOf = ({ guardrails }: Pick<AgentRow, 'guardrails'>): Guardrails => ({
  ...NO_GUARDRAILS,
  ...guardrails,
})
