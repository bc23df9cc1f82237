import type { Selectable } from 'kysely'
import type { Static } from 'typebox'
import type { MessagePart, MessagesTable } from '../../platform/db/tables/conversations.ts'
import { unresolvedCalls } from '../records/parts.ts'
import { presentConversation, presentMessage } from '../records/present.ts'
import type { ConversationRow } from '../records/queries.ts'
import type { Addresses } from '../records/source-address.ts'
import type { exportConversations } from './contract.ts'
import { exportedOutput } from './exported-output.ts'

export type ExportedConversation = Static<typeof exportConversations.success.schema>['data'][number]
export type ExportedMessage = NonNullable<ExportedConversation['messages']>[number]

export const exportedSummary = (row: ConversationRow): ExportedConversation => ({
  ...presentConversation(row),
  source: row.source,
  embedOrigin: row.embed_origin,
})

/** A message without the inputs of its calls; a call without a result is pending. */
type ExportedPart = ExportedMessage['parts'][number]

/** The reasoning of models is for the team alone. */
export function exportedMessage(
  row: Selectable<MessagesTable>,
  addresses: Addresses,
  { includeReasoning }: { includeReasoning: boolean },
): ExportedMessage {
  const waiting = new Set(unresolvedCalls(row.parts).map(({ toolCallId }) => toolCallId))
  return {
    ...presentMessage(row, addresses, { includeReasoning }),
    parts: row.parts.flatMap((part) => exportedParts(part, waiting)),
  }
}

function exportedParts(part: MessagePart, waiting: ReadonlySet<string>): ExportedPart[] {
  if (part.type === 'text') return [part]
  const { type, toolCallId, toolName } = part
  if (part.type === 'tool-result')
    return [{ type: part.type, toolCallId, toolName, output: exportedOutput(part.output) }]
  const call: ExportedPart = { type: 'tool-call', toolCallId, toolName }
  if (type !== 'tool-call' || !waiting.has(toolCallId)) return [call]
  return [call, { type: 'tool-result', toolCallId, toolName, output: { status: 'pending' } }]
}
