import type { JSONSchema7 } from '@ai-sdk/provider'
import type { ActionType } from '../../platform/db/tables/actions.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'

/** The result of an action that runs here. The model, the stream and the history all get this format. */
export type ToolOutput = { status: 'success'; data?: unknown } | { status: 'error'; error: string }

/** The context of a call. */
export type ToolCallPlace = {
  accountId: AccountId
  agentId: string
  conversationId: string
  userId: string | null
  /** The id of the call, which stays the same when it is repeated after a fault. */
  toolCallId: string
  signal: AbortSignal
}

/** An action as the generation loop sees it. */
export type Tool = {
  name: string
  type: ActionType | 'procedure'
  /** Tells the model when to use it. */
  description: string
  inputSchema: JSONSchema7
  /** Returns a sentence about what is wrong with an input, or null; changes nothing. */
  refuse(input: unknown): string | null
  /**
   * null: the calling application runs it. Never throws: errors become an `error` output, worded so that the model may
   * pass them on.
   */
  run: ((input: unknown, place: ToolCallPlace) => Promise<ToolOutput>) | null
}

/** Everything that an agent can do on one channel besides talking. */
export type Toolkit = {
  tools: Tool[]
  /** What the system prompt says about the procedures; null when there are none. */
  procedures: string | null
  /** What is said about the one that is running in the conversation; null when there is none. */
  running: string | null
}
