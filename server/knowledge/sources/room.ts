import { sql } from 'kysely'
import { planOf } from '../../accounts/plans/plans.ts'
import type { Trx } from '../../db/database.ts'
import type { AccountId } from '../../db/tables/columns.ts'
import { ApiError } from '../../http/errors.ts'

// Any number, the same in every process; not that of insights/lock-agent.ts.
const CLASS = 7_276

/** Bytes of training text. */
export const sizeOf = (...texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)

/**
 * Throws SOURCE_SIZE_LIMIT_EXCEEDED when `bytes` of training text, in the place of the source `instead`, would
 * pass the plan. Takes the room of the agent, so that two sources cannot have the last of it.
 */
export async function takeRoom(
  trx: Trx,
  account: { id: AccountId; plan: string },
  agentId: string,
  bytes: number,
  instead: string | null = null,
): Promise<void> {
  if (planOf(account.plan).trainingBytes === null) return
  // Not the agent's row: many uploads at once would keep off all that holds it.
  await sql`select pg_advisory_xact_lock(${CLASS}::integer, hashtext(${agentId}))`.execute(trx)
  if (!(await hasRoom(trx, account, agentId, bytes, instead)))
    throw new ApiError('SOURCE_SIZE_LIMIT_EXCEEDED')
}

/** Whether it would fit now. Takes nothing: whoever holds the agent must not wait for uploads. */
export async function hasRoom(
  trx: Trx,
  account: { id: AccountId; plan: string },
  agentId: string,
  bytes: number,
  instead: string | null,
): Promise<boolean> {
  const { trainingBytes } = planOf(account.plan)
  if (trainingBytes === null) return true
  const { used } = await trx
    .selectFrom('sources')
    .select(sql<number>`coalesce(sum(size), 0)::bigint`.as('used'))
    .where('account_id', '=', account.id)
    .where('agent_id', '=', agentId)
    .$if(instead !== null, (query) => query.where('id', '<>', instead ?? ''))
    .executeTakeFirstOrThrow()
  return used + bytes <= trainingBytes
}

/**
 * Throws RATE_LIMIT_TOO_MANY_REQUESTS while as many sources of the account wait for their training as its plan allows.
 * Requests of the same moment may go beyond it by as many as they are.
 */
export async function refuseUnfinished(trx: Trx, account: { id: AccountId; plan: string }): Promise<void> {
  const { unfinishedSources } = planOf(account.plan)
  const last = await trx
    .selectFrom('sources')
    .select('id')
    .where('account_id', '=', account.id)
    .where('status', 'in', ['untrained', 'updated'])
    .offset(unfinishedSources - 1)
    .limit(1)
    .executeTakeFirst()
  if (!last) return
  throw new ApiError('RATE_LIMIT_TOO_MANY_REQUESTS', {
    message: `${unfinishedSources} sources of the account are not trained yet, as many as its plan allows. Add more when some of them are.`,
    headers: { 'retry-after': '30' },
  })
}
