import type { JSONSchema7 } from '@ai-sdk/provider'
import type { ActionType } from '../../db/tables/actions.ts'
import type { AccountId } from '../../db/tables/columns.ts'

/** What an action that runs here gives back; the same shape goes to the model, the stream and the history. */
export type ToolOutput = { status: 'success'; data?: unknown } | { status: 'error'; error: string }

/** Where a call happens. */
export type ToolCallPlace = {
  accountId: AccountId
  agentId: string
  conversationId: string
  userId: string | null
  /** The call's own id, the same when a call is made again after a fault. */
  toolCallId: string
  signal: AbortSignal
}

/** One action as the generation loop sees it. */
export type Tool = {
  name: string
  type: ActionType | 'procedure'
  /** For the model: when to use it. */
  description: string
  inputSchema: JSONSchema7
  /** The sentence that says what is wrong with an input, or null; makes no changes. */
  refuse(input: unknown): string | null
  /** null: the calling application runs it. Never throws: what goes wrong is an `error` output, in words the model may pass on. */
  run: ((input: unknown, place: ToolCallPlace) => Promise<ToolOutput>) | null
}

/** All that an agent can do besides talking, on one channel. */
export type Toolkit = {
  tools: Tool[]
  /** Said to the model in the system prompt; null when there are no procedures. */
  procedures: string | null
}
