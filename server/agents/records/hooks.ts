import type { Db, Trx } from '../../db/database.ts'
import type { AccountId } from '../../db/tables/columns.ts'

/** What agents need of the knowledge and the actions above them; handed in where the application is put together. */
export type AgentHooks = {
  /** Adds a link source; throws ApiError when the URL cannot be one. */
  addLinkSource(db: Db, account: { id: AccountId; plan: string }, agentId: string, url: string): Promise<void>
  /**
   * Copies sources with their index, in the caller's transaction. When it throws, the transaction is taken back
   * to where it was before the call; files on disk are then the hook's to remove.
   */
  copySources(trx: Trx, accountId: AccountId, fromAgentId: string, toAgentId: string): Promise<void>
  /** Copies actions and procedures, in the caller's transaction; when it throws there is no clone. */
  copyActions(trx: Trx, accountId: AccountId, fromAgentId: string, toAgentId: string): Promise<void>
}
