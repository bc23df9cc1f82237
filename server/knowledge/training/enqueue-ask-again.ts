import type { Trx } from '../../platform/db/database.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'

/** The background job that asks an agent again what it could not answer before it knew more. */
export const ASK_AGAIN = 'ask-again'

export type AskAgain = AgentRef

/** Several sources are often trained one after another. */
const ASK_AGAIN_AFTER_SECONDS = 2

/** Enqueues what follows when an agent has learned something. */
export const enqueueAskAgain = (jobs: Jobs, trx: Trx, { accountId, agentId }: AgentRef): Promise<void> =>
  jobs.enqueue<AskAgain>(trx, ASK_AGAIN, { accountId, agentId }, ASK_AGAIN_AFTER_SECONDS, accountId)
