import { sql } from 'kysely'
import type { Tool, ToolOutput } from '../../actions/tools/tool.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { type AgentRef, ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { ActionType } from '../../platform/db/tables/actions.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { GenerationsTable, MessagePart, StopReason } from '../../platform/db/tables/conversations.ts'
import { storableJson } from '../../platform/http/bodies/storable.ts'
import { containsWords } from '../../platform/text/words/words.ts'
import { recordOf } from '../../platform/unknown-values.ts'
import type { GenerationIds, LiveGeneration } from '../stream/reading.ts'

/** The result that the model and the history see for a call that nobody answered. */
const IGNORED = { status: 'ignored' } as const

export type ResultPart = Extract<MessagePart, { type: 'tool-result' }>
export type CallPart = Extract<MessagePart, { type: 'tool-call' }>

export const textOf = ({ parts }: { parts: readonly MessagePart[] }): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

/** Whether an answer has words or calls. Spaces and the numbers of citations do not count as words. */
export const hasSpoken = ({ parts }: { parts: readonly MessagePart[] }): boolean =>
  parts.some(({ type }) => type !== 'text') || hasWords({ parts })

export const hasWords = ({ parts }: { parts: readonly MessagePart[] }): boolean =>
  containsWords(textOf({ parts }))

export const resultsOf = (parts: readonly MessagePart[]): Map<string, ResultPart> =>
  new Map(parts.flatMap((part) => (part.type === 'tool-result' ? [[part.toolCallId, part]] : [])))

/** Any output that an application has sent counts; calls that run here say whether they succeeded. */
export const succeeded = ({ output, providerExecuted }: ResultPart): boolean =>
  !providerExecuted || recordOf(output).status === 'success'

/** Returns the calls that have no result yet. */
export function unresolvedCalls(parts: readonly MessagePart[]): CallPart[] {
  const results = resultsOf(parts)
  return parts
    .filter((part) => part.type === 'tool-call')
    .filter(({ toolCallId }) => !results.has(toolCallId))
}

/**
 * Returns what is kept of a turn that was interrupted. A reply is kept completely. A failed retry keeps the earlier
 * answer. A continuation keeps the results of its actions, and can be requested again from there.
 */
export function keptOfBroken(kind: GenerationsTable['kind'], parts: readonly MessagePart[]): MessagePart[] {
  if (kind === 'reply') return [...parts]
  if (kind === 'retry') return []
  return parts.slice(0, parts.findLastIndex(({ type }) => type === 'tool-result') + 1)
}

/** Returns results for calls that nobody will answer any more: the known result if there is one, else `ignored`. */
export function closingResults(
  calls: CallPart[],
  known: ReadonlyMap<string, unknown> = new Map(),
): ResultPart[] {
  return calls.map(({ toolCallId, toolName }) => ({
    type: 'tool-result',
    toolCallId,
    toolName,
    output: known.get(toolCallId) ?? IGNORED,
    providerExecuted: true,
  }))
}

/**
 * Returns the parts for an application: the calls that it runs itself and, if it asks for them, those that the service
 * runs.
 */
export const shownParts = (parts: readonly MessagePart[], includeServerActions = false): MessagePart[] =>
  parts.filter((part) => includeServerActions || part.type === 'text' || !part.providerExecuted)

/** A tool call of the model. We assign the id, because providers reuse theirs. */
export type Call = {
  id: string
  name: string
  input: unknown
  /** The tool that is called; null when there is no such tool. */
  tool: Tool | null
  /** Why the call cannot be run, worded for the model; null when it can. */
  problem: string | null
}

/** A call that its application has not answered within this time counts as ignored. */
const CALL_EXPIRY_HOURS = 24

const rowsOf = (calls: Call[]) =>
  calls
    .filter(({ tool }) => tool?.type !== 'procedure')
    .map(({ id, name, tool, input }) => ({ id, name, type: (tool?.type ?? 'client') as ActionType, input }))

/**
 * Records calls that are about to run here. Resolves to the reason when they must not run, because the generation has
 * to end or no longer belongs to this process, and to null otherwise.
 */
export async function beginCalls(
  db: Db,
  { accountId, agentId }: AgentRef,
  process: { id: string },
  { ids }: LiveGeneration,
  calls: Call[],
): Promise<StopReason | 'lost' | null> {
  const { rows } = await sql<{ stop_reason: StopReason | null }>`
    with held as (
      select id, stop_reason from generations
      where account_id = ${accountId} and id = ${ids.id} and status = 'running'
        and owner = ${process.id} and epoch = ${ids.epoch}
      for no key update
    ), begun as (
      insert into tool_calls
        (id, account_id, agent_id, conversation_id, message_id, generation_id, name, type, input, status)
      select wanted.id, ${accountId}, ${agentId}, ${ids.conversationId}::uuid, ${ids.messageId}::uuid, held.id,
        wanted.name, wanted.type, wanted.input, 'pending'
      from held, jsonb_to_recordset(${json(rowsOf(calls))}) as wanted (id uuid, name text, type text, input jsonb)
      where stop_reason is null
    )
    select stop_reason from held`.execute(db)
  return rows[0] ? rows[0].stop_reason : 'lost'
}

/** Records how a call ended. */
export async function endCall(
  db: Db,
  { accountId }: AgentRef,
  { id }: Pick<Call, 'id'>,
  output: ToolOutput,
): Promise<void> {
  await db
    .updateTable('tool_calls')
    .set({ status: output.status, output: json(storableJson(output)), resolved_at: new Date() })
    .where(ownRow(accountId, id))
    .where('status', '=', 'pending')
    .execute()
}

/**
 * Records how calls ended, in the transaction that ends their generation, unless that has been recorded before. Without
 * it, a call whose end could not be recorded at once would be pending for ever.
 */
export async function endCalls(trx: Trx, ref: AgentRef, results: Iterable<ResultPart>): Promise<void> {
  for (const { toolCallId, output } of results)
    await endCall(trx, ref, { id: toolCallId }, output as ToolOutput)
}

/** Records calls that the application has to run, in the transaction that stores their message. */
export async function awaitCalls(
  trx: Trx,
  { accountId, agentId }: AgentRef,
  ids: GenerationIds,
  calls: Call[],
): Promise<void> {
  if (calls.length === 0) return
  await sql`
    insert into tool_calls
      (id, account_id, agent_id, conversation_id, message_id, generation_id, name, type, input, status, expires_at)
    select wanted.id, ${accountId}, ${agentId}, ${ids.conversationId}::uuid, ${ids.messageId}::uuid, ${ids.id}::uuid,
      wanted.name, wanted.type, wanted.input, 'pending', now() + ${CALL_EXPIRY_HOURS} * interval '1 hour'
    from jsonb_to_recordset(${json(rowsOf(calls))}) as wanted (id uuid, name text, type text, input jsonb)`.execute(
    trx,
  )
}

/** Closes the calls of a generation that were still running here when it ended; their results are unknown. */
export async function dropRunningCalls(
  trx: Trx,
  { accountId }: AgentRef,
  generationId: string,
): Promise<void> {
  await trx
    .updateTable('tool_calls')
    .set({ status: 'ignored', resolved_at: new Date() })
    .where('account_id', '=', accountId)
    .where('generation_id', '=', generationId)
    .where('status', '=', 'pending')
    .where('expires_at', 'is', null)
    .execute()
}

/**
 * Closes calls that wait for their application as ignored, and says so in their messages: either all calls of the
 * conversation, or only the expired ones. The transaction must have locked the conversation's row.
 */
export async function ignoreWaitingCalls(
  trx: Trx,
  accountId: AccountId,
  conversationId: string,
  { expiredOnly }: { expiredOnly: boolean },
): Promise<void> {
  let query = trx
    .updateTable('tool_calls')
    .set({ status: 'ignored', output: json(IGNORED), resolved_at: new Date() })
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
    .where('status', '=', 'pending')
    .where('expires_at', 'is not', null)
  if (expiredOnly) query = query.where('expires_at', '<=', sql<Date>`now()`)
  const closed = await query.returning(['id', 'name', 'message_id']).execute()
  for (const { id, name, message_id } of closed) {
    await addToMessage(trx, accountId, message_id, [
      { type: 'tool-result', toolCallId: id, toolName: name, output: IGNORED },
    ])
  }
}

/** Appends parts to a stored message. */
export async function addToMessage(
  trx: Trx,
  accountId: AccountId,
  messageId: string,
  parts: MessagePart[],
): Promise<void> {
  await sql`update messages set parts = parts || ${json(parts)}::jsonb
    where account_id = ${accountId} and id = ${messageId}`.execute(trx)
}

/** Returns the conversation's calls that wait for their application. */
export async function waitingCalls(
  db: Db,
  accountId: AccountId,
  conversationId: string,
): Promise<{ id: string; name: string }[]> {
  return db
    .selectFrom('tool_calls')
    .select(['id', 'name'])
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
    .where('status', '=', 'pending')
    .where('expires_at', 'is not', null)
    .orderBy('id')
    .execute()
}
