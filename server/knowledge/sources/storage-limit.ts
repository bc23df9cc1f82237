import { sql } from 'kysely'
import { planOf } from '../../accounts/plans/plans.ts'
import type { Trx } from '../../platform/db/database.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { ApiError } from '../../platform/http/errors.ts'

// The class of the advisory locks. It is the same in every process and differs from that of insights/lock-agent.ts.
const CLASS = 7_276

/** Returns the bytes of training text. */
export const sizeOf = (...texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)

/**
 * Throws SOURCE_SIZE_LIMIT_EXCEEDED when `bytes` more of training text, without the source `instead`, would exceed
 * the plan. Locks the agent's size, so that two sources cannot both take what is left.
 */
export async function reserveStorage(
  trx: Trx,
  account: { id: AccountId; plan: string },
  agentId: string,
  bytes: number,
  instead: string | null = null,
): Promise<void> {
  if (planOf(account.plan).trainingBytes === null) return
  // The agent's row is not locked, because many uploads at once would block everything that needs it.
  await sql`select pg_advisory_xact_lock(${CLASS}::integer, hashtext(${agentId}))`.execute(trx)
  if (!(await fitsStorageLimit(trx, account, agentId, bytes, instead)))
    throw new ApiError('SOURCE_SIZE_LIMIT_EXCEEDED')
}

/**
 * Returns whether the bytes would fit now. It takes no lock, because a transaction that has locked the agent must
 * not wait for uploads.
 */
export async function fitsStorageLimit(
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
    message: `${unfinishedSources} sources of the account are waiting for training, which is the limit of its plan. Add more once some of them are trained.`,
    headers: { 'retry-after': '30' },
  })
}
