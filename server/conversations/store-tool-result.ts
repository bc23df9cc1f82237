import { sql } from 'kysely'
import type { Db } from '../db/database.ts'
import { isId } from '../db/ids.ts'
import { json } from '../db/json.ts'
import type { AccountId, ToolCallStatus } from '../db/tables.ts'
import { transact } from '../db/transact.ts'
import { ApiError } from '../http/errors.ts'
import { requireApiConversation } from './queries.ts'
import { addToMessage } from './tool-calls.ts'

export type ToolResult = { toolCallId: string; output?: unknown }

/**
 * Takes the result of a call that waits for its application, once. A result that is too late (expired, ignored,
 * resolved before) is RESOURCE_TOOL_CALL_NOT_FOUND (service-api, "Client action").
 */
export async function storeToolResult(
  db: Db,
  accountId: AccountId,
  agentId: string,
  conversationId: string,
  { toolCallId, output = null }: ToolResult,
): Promise<void> {
  await transact(db, async (trx) => {
    await requireApiConversation(trx, accountId, agentId, conversationId, true)
    const call = isId(toolCallId)
      ? await trx
          .updateTable('tool_calls')
          .set({ status: outcomeOf(output), output: json(output), resolved_at: new Date() })
          .where('account_id', '=', accountId)
          .where('conversation_id', '=', conversationId)
          .where('id', '=', toolCallId)
          .where('status', '=', 'pending')
          .where('expires_at', '>', sql<Date>`now()`)
          .returning(['name', 'message_id'])
          .executeTakeFirst()
      : undefined
    if (!call) throw new ApiError('RESOURCE_TOOL_CALL_NOT_FOUND')
    await addToMessage(trx, accountId, call.message_id, [
      { type: 'tool-result', toolCallId, toolName: call.name, output },
    ])
    await trx
      .updateTable('conversations')
      .set({ updated_at: new Date() })
      .where('account_id', '=', accountId)
      .where('id', '=', conversationId)
      .execute()
  })
}

/** Any JSON is a success, unless it says otherwise in the shape that exports use. */
function outcomeOf(output: unknown): ToolCallStatus {
  const said = (output as { status?: unknown } | null)?.status
  return said === 'error' || said === 'ignored' ? said : 'success'
}
