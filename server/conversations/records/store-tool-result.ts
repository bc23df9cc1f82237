import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import type { Db } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import { type ConversationRef, ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { ToolCallStatus } from '../../platform/db/tables/conversations.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { recordOf } from '../../platform/unknown-values.ts'
import { attach } from '../stream/generation-log.ts'
import type { FrameSource } from '../stream/reading.ts'
import { addToMessage } from './parts.ts'
import { requireConversation } from './queries.ts'

/** Runs the work that stores a result, which throws when there is no such call. */
export type TakeResult = (work: (db: Db) => Promise<void>) => Promise<unknown>

type ToolResult = { toolCallId: string; output?: unknown }

/** How long a step may continue after one of its calls was shown, in milliseconds. */
const MAX_WAIT_MS = 15_000

type Deps = Pick<Context, 'db' | 'generations' | 'orphans' | 'followers'>

/**
 * Stores the result of a call that waits for its application, once. A result that is too late (expired, ignored or
 * resolved before) throws RESOURCE_TOOL_CALL_NOT_FOUND (service-api, "Client action"). A reader is shown a call as soon
 * as the model makes it, so a result that arrives before the answer has ended waits for that end.
 */
export async function storeToolResult(
  ctx: Deps,
  ref: ConversationRef,
  result: ToolResult,
  take: TakeResult = (work) => work(ctx.db),
): Promise<void> {
  if (!isId(result.toolCallId)) throw notThere()
  const taking = (db: Db): Promise<void> => takeResult(db, ref, result)
  try {
    await take(taking)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'RESOURCE_TOOL_CALL_NOT_FOUND') throw error
    // Waiting holds no database connection, since anybody may send ids of calls that do not exist.
    const running = await attach(ctx, ref.accountId, ref.conversationId)
    if (!running) throw error
    await endOf(running.source)
    await take(taking)
  }
}

const notThere = (): ApiError => new ApiError('RESOURCE_TOOL_CALL_NOT_FOUND')

async function endOf(source: FrameSource): Promise<void> {
  if (source.ended) return
  let stopWatching = (): void => {}
  let timer: NodeJS.Timeout | undefined
  await new Promise<void>((resolve) => {
    timer = setTimeout(resolve, MAX_WAIT_MS)
    stopWatching = source.watch(() => {
      if (source.ended) resolve()
    })
  })
  clearTimeout(timer)
  stopWatching()
}

async function takeResult(
  db: Db,
  { accountId, agentId, conversationId }: ConversationRef,
  { toolCallId, output = null }: ToolResult,
): Promise<void> {
  await transact(db, async (trx) => {
    await requireConversation(trx, { accountId, agentId, conversationId }, true)
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
    if (!call) throw notThere()
    await addToMessage(trx, accountId, call.message_id, [
      { type: 'tool-result', toolCallId, toolName: call.name, output },
    ])
    await trx
      .updateTable('conversations')
      .set({ updated_at: sql<Date>`now()` })
      .where(ownRow(accountId, conversationId))
      .execute()
  })
}

/** Any JSON counts as success, unless it reports an error in the format that exports use. */
function outcomeOf(output: unknown): ToolCallStatus {
  const said = recordOf(output).status
  return said === 'error' || said === 'ignored' ? said : 'success'
}
