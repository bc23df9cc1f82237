import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Db } from '../db/database.ts'
import { isId } from '../db/ids.ts'
import { json } from '../db/json.ts'
import type { AccountId, ToolCallStatus } from '../db/tables.ts'
import { transact } from '../db/transact.ts'
import { ApiError } from '../http/errors.ts'
import { runningGeneration } from './attach.ts'
import { requireApiConversation, requireConversation } from './queries.ts'
import { addToMessage } from './tool-calls.ts'

export type ToolResult = { toolCallId: string; output?: unknown }

/** A step may speak on for so long after a call of it was shown. */
const LONGEST_WAIT_MS = 15_000
const LOOK_EVERY_MS = 100

type Place = {
  accountId: AccountId
  agentId: string
  conversationId: string
  /** As conversations.source: where the application is that runs the actions. */
  source: string
}

/**
 * Takes the result of a call that waits for its application, once. A result that is too late (expired, ignored,
 * resolved before) is RESOURCE_TOOL_CALL_NOT_FOUND (service-api, "Client action"). One that comes before the
 * answer with its call has ended waits for that end: a reader is shown a call as soon as it is made.
 */
export async function storeToolResult(db: Db, place: Place, result: ToolResult): Promise<void> {
  if (await takeResult(db, place, result)) return
  const until = Date.now() + LONGEST_WAIT_MS
  while (Date.now() < until && (await runningGeneration(db, place.accountId, place.conversationId))) {
    await wait(LOOK_EVERY_MS)
    if (await takeResult(db, place, result)) return
  }
  if (!(await takeResult(db, place, result))) throw new ApiError('RESOURCE_TOOL_CALL_NOT_FOUND')
}

async function takeResult(
  db: Db,
  { accountId, agentId, conversationId, source }: Place,
  { toolCallId, output = null }: ToolResult,
): Promise<boolean> {
  return transact(db, async (trx) => {
    const require = source === 'API' ? requireApiConversation : requireConversation
    await require(trx, accountId, agentId, conversationId, true)
    if (!isId(toolCallId)) return false
    const call = await trx
      .updateTable('tool_calls')
      .set({ status: outcomeOf(output), output: json(output), resolved_at: new Date() })
      .where('account_id', '=', accountId)
      .where('conversation_id', '=', conversationId)
      .where('id', '=', toolCallId)
      .where('status', '=', 'pending')
      .where('expires_at', '>', sql<Date>`now()`)
      .returning(['name', 'message_id'])
      .executeTakeFirst()
    if (!call) return false
    await addToMessage(trx, accountId, call.message_id, [
      { type: 'tool-result', toolCallId, toolName: call.name, output },
    ])
    await trx
      .updateTable('conversations')
      .set({ updated_at: new Date() })
      .where('account_id', '=', accountId)
      .where('id', '=', conversationId)
      .execute()
    return true
  })
}

/** Any JSON is a success, unless it says otherwise in the shape that exports use. */
function outcomeOf(output: unknown): ToolCallStatus {
  const said = (output as { status?: unknown } | null)?.status
  return said === 'error' || said === 'ignored' ? said : 'success'
}
