import type { Db, Trx } from '../../platform/db/database.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'

/** What agents need of the features above them. They are listed in `server/reactions.ts`. */
export type AgentReactions = {
  /** Adds a link source; throws ApiError when the URL cannot be one. */
  addLinkSource(db: Db, account: { id: AccountId; plan: string }, agentId: string, url: string): Promise<void>
  /**
   * Copies sources with their index in the caller's transaction. If it throws, it has removed its files from the disk,
   * and the caller rolls the transaction back to where it was before.
   */
  copySources(trx: Trx, accountId: AccountId, fromAgentId: string, toAgentId: string): Promise<void>
  /** Copies actions and procedures in the caller's transaction. If it throws, there is no clone. */
  copyActions(trx: Trx, accountId: AccountId, fromAgentId: string, toAgentId: string): Promise<void>
  /** Deletes the running generations of an agent and returns their ids. */
  dropReplies(trx: Trx, agent: AgentRef): Promise<string[]>
  /** Queues the end of what others have permitted to an agent that is being deleted. */
  withdrawLater(trx: Trx, agent: AgentRef): Promise<void>
}
