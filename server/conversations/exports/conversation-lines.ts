import type { Db } from '../../platform/db/database.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import { byCreation } from '../../platform/http/pagination.ts'
import { csvRow } from '../../platform/text/rows/csv-row.ts'
import type { ConversationRow } from '../records/queries.ts'
import { withoutAddresses } from '../records/source-address.ts'
import { type ExportedMessage, exportedMessage, exportedSummary } from './present.ts'
import { conversationsToExport, messagesAfter } from './queries.ts'

/** Rows held in memory at once. */
const CONVERSATIONS = 50
const MESSAGES = 200

export type FileFormat = 'ndjson' | 'csv'
export type Written = { conversations: number; messages: number }

/**
 * The text of a whole agent's export, piece by piece, newest conversation first: NDJSON has a line for each
 * conversation in the shape of the export endpoint, CSV a row for each message. `written` counts.
 */
export async function* conversationLines(
  db: Db,
  { accountId, agentId }: AgentRef,
  format: FileFormat,
  written: Written,
): AsyncGenerator<string> {
  // The byte order mark makes spreadsheets read the text as Unicode.
  if (format === 'csv') yield `\uFEFF${csvRow(COLUMNS)}`
  for await (const row of allConversations(db, { accountId, agentId })) {
    written.conversations++
    yield* format === 'csv' ? csvRows(db, row, written) : jsonLine(db, row, exportedSummary(row), written)
  }
}

/** The conversations of an agent, newest first. */
export async function* allConversations(
  db: Db,
  { accountId, agentId }: AgentRef,
): AsyncGenerator<ConversationRow> {
  const filter = { agentId, sources: null, from: null, until: null }
  let position: { value: string; id: string } | null = null
  do {
    const rows: ConversationRow[] = await conversationsToExport(db, accountId, filter, {
      limit: CONVERSATIONS,
      position,
    })
    const page = rows.slice(0, CONVERSATIONS)
    yield* page
    const last = page.at(-1)
    position = rows.length > CONVERSATIONS && last ? byCreation(last) : null
  } while (position)
}

async function* messagePages(
  db: Db,
  { account_id, id }: ConversationRow,
  written: Written,
  options = { includeReasoning: true },
): AsyncGenerator<ExportedMessage[]> {
  for (let afterSeq = 0; ; ) {
    const rows = await messagesAfter(db, account_id, id, { afterSeq, limit: MESSAGES })
    written.messages += rows.length
    if (rows.length > 0) yield rows.map((row) => exportedMessage(row, withoutAddresses, options))
    if (rows.length < MESSAGES) return
    afterSeq = rows.at(-1)?.seq ?? afterSeq
  }
}

/** One line, `head` with all messages, written in pieces: a conversation may be longer than what is held. */
export async function* jsonLine(
  db: Db,
  row: ConversationRow,
  head: object,
  written: Written,
  options?: { includeReasoning: boolean },
): AsyncGenerator<string> {
  let separator = ''
  yield `${JSON.stringify(head).slice(0, -1)},"messages":[`
  for await (const messages of messagePages(db, row, written, options)) {
    yield separator + messages.map((message) => JSON.stringify(message)).join(',')
    separator = ','
  }
  yield ']}\n'
}

const COLUMNS =
  `conversationId title source status userId conversationCreatedAt conversationUpdatedAt messageId role
  createdAt text feedback notDelivered`.split(/\s+/)

async function* csvRows(db: Db, row: ConversationRow, written: Written): AsyncGenerator<string> {
  const own = [row.id, row.title, row.source, row.status, row.user_id, row.created_at, row.updated_at].map(
    (value) => (value instanceof Date ? value.toISOString() : value),
  )
  let isEmpty = true
  for await (const messages of messagePages(db, row, written)) {
    isEmpty = false
    yield messages
      .map(({ id, role, createdAt, parts, feedback, metadata }) => {
        const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')
        return csvRow([
          ...own,
          id,
          role,
          new Date(createdAt * 1000).toISOString(),
          text,
          feedback ?? '',
          metadata?.delivery?.error ?? '',
        ])
      })
      .join('')
  }
  if (isEmpty) yield csvRow([...own, '', '', '', '', '', ''])
}
