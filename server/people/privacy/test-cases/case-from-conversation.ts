import { sql } from 'kysely'
import type { Static } from 'typebox'
import { channelNames } from '../../../agents/settings/channel-names.ts'
import type { NewAnswerCase } from '../../../conversations/playground/answer-tests/schema.ts'
import { resultsOf, textOf } from '../../../conversations/records/parts.ts'
import { metadataOf, presentedOutcome } from '../../../conversations/records/present.ts'
import {
  type ConversationRow,
  type MessageRow,
  messagesBackwards,
  requireConversation,
  WIDGET,
} from '../../../conversations/records/queries.ts'
import { withoutMarkers } from '../../../knowledge/search/answering/citations.ts'
import type { Db } from '../../../platform/db/database.ts'
import { isId } from '../../../platform/db/ids.ts'
import { type AgentRef, type ConversationRef, ofAgent } from '../../../platform/db/refs.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { shortenAtWord } from '../../../platform/text/words/words.ts'
import { recordOf } from '../../../platform/unknown-values.ts'
import type { proposeFromConversation } from './contract.ts'
import { knownOf } from './known-values.ts'
import { type PersonalReplacer, personalReplacer } from './personal-replacer.ts'

type Proposal = Static<typeof proposeFromConversation.success.schema>
type Expectations = Static<typeof NewAnswerCase>['expect']

/** The messages before the answer that are read, and the limits of a case. */
const MESSAGES_READ = 200
const MAX_TURNS = 10
/** The most characters of a name, an address or a number, which a cut may split. */
const MAX_VALUE = 400
const MAX_LENGTH = { message: 10_000, answer: 20_000, means: 4_000, name: 80 }

/**
 * Returns a case that asks what a customer wrote up to an answer, without what is known of the customer. Throws
 * RESOURCE_NOT_FOUND, RESOURCE_MESSAGE_NOT_FOUND and RESOURCE_MESSAGE_NOT_ASSISTANT.
 */
export async function caseFromConversation(
  db: Db,
  ref: ConversationRef,
  messageId: string | undefined,
): Promise<Proposal> {
  const conversation = await requireConversation(db, ref)
  const messages = await messagesUntil(db, conversation, messageId)
  const answer = messages.at(-1)
  const { known, names } = await knownOf(db, conversation)
  const replacer = personalReplacer(known, names)
  const asked = turnsOf(messages).map((text) => cleaned(text, MAX_LENGTH.message, replacer.inOwnText))
  if (!answer || asked.length === 0)
    throw new ApiError('RESOURCE_MESSAGE_NOT_FOUND', {
      message: 'Nothing was asked before this answer, so there is nothing to test.',
    })
  const said = cleaned(withoutMarkers(textOf(answer)), MAX_LENGTH.answer, replacer.inText)
  const { results, ...expect } = await expectedOf(db, ref, messages, answer, replacer)
  const channel = channelOf(conversation)
  return {
    case: {
      name: shortenAtWord(asked.at(-1) ?? '', MAX_LENGTH.name),
      messages: asked,
      ...(channel ? { channel } : {}),
      ...(Object.keys(results).length > 0 ? { results } : {}),
      expect,
      conversationId: ref.conversationId,
    },
    marks: replacer.marks(),
    answer: said,
  }
}

/** Shortens a text before it is cleaned, and then takes away what the cut may have split. */
function cleaned(text: string, most: number, clean: (text: string) => string): string {
  const read = text.slice(0, most + MAX_VALUE)
  const said = clean(read.toWellFormed())
  const end = read.length < text.length ? Math.max(0, said.length - MAX_VALUE) : said.length
  return said.slice(0, Math.min(most, end)).toWellFormed()
}

/** Returns the messages up to an answer, oldest first. */
async function messagesUntil(
  db: Db,
  { account_id, id }: ConversationRow,
  messageId: string | undefined,
): Promise<MessageRow[]> {
  let beforeSeq: number | null = null
  if (messageId !== undefined) {
    const row = isId(messageId)
      ? await db
          .selectFrom('messages')
          .select(['seq', 'role'])
          .where('account_id', '=', account_id)
          .where('conversation_id', '=', id)
          .where('id', '=', messageId)
          .executeTakeFirst()
      : undefined
    if (!row) throw new ApiError('RESOURCE_MESSAGE_NOT_FOUND')
    if (row.role !== 'assistant') throw new ApiError('RESOURCE_MESSAGE_NOT_ASSISTANT')
    beforeSeq = row.seq + 1
  }
  const rows = await messagesBackwards(db, account_id, id, { limit: MESSAGES_READ - 1, beforeSeq })
  const last = rows.findIndex(({ role }) => role === 'assistant')
  return last === -1 ? [] : rows.slice(last).reverse()
}

/** Returns what the customer wrote, as one text for each answer. */
function turnsOf(messages: readonly MessageRow[]): string[] {
  const turns: string[] = []
  let waiting: string[] = []
  for (const message of messages) {
    const text = textOf(message).trim()
    if (message.role === 'user') waiting.push(...(text ? [text] : []))
    else if (waiting.length > 0) {
      turns.push(waiting.join('\n'))
      waiting = []
    }
  }
  return turns.slice(-MAX_TURNS)
}

function channelOf({ source }: ConversationRow): Static<typeof NewAnswerCase>['channel'] {
  if (source === WIDGET) return 'chat_widget'
  return channelNames.find((one) => one.source === source)?.settings ?? (source === 'API' ? 'api' : undefined)
}

/** Returns what the answer did: the actions with what they returned, what it cites, and what a right one says. */
async function expectedOf(
  db: Db,
  ref: ConversationRef,
  messages: readonly MessageRow[],
  answer: MessageRow,
  replacer: PersonalReplacer,
): Promise<Expectations & { results: Record<string, unknown> }> {
  const answers = messages.filter(({ role }) => role === 'assistant')
  const called = answers.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool-call' ? [part.toolName] : [])),
  )
  const actions = await actionsNamed(db, ref, called)
  const calls = actions.filter(({ type }) => type !== 'escalate').map(({ name }) => name)
  const results: Record<string, unknown> = {}
  for (const { parts } of answers)
    for (const { toolName, output, providerExecuted } of resultsOf(parts).values()) {
      const { status, data = null } = recordOf(output)
      if (!calls.includes(toolName) || (providerExecuted && status !== 'success')) continue
      results[toolName] = replacer.inJson(providerExecuted ? data : output)
    }
  const right = await rightAnswer(db, ref, answer)
  const means = right.text && cleaned(right.text, MAX_LENGTH.means, replacer.inText)
  return {
    ...(calls.length > 0 ? { calls: calls.slice(0, 20) } : {}),
    ...(actions.length > calls.length ? { handsOver: true } : {}),
    ...(means ? { means } : {}),
    ...(right.sourceIds.length > 0 ? { cites: right.sourceIds.slice(0, 20) } : {}),
    results,
  }
}

async function actionsNamed(db: Db, { accountId, agentId }: AgentRef, names: readonly string[]) {
  if (names.length === 0) return []
  return db
    .selectFrom('actions')
    .select(['name', 'type'])
    .where(ofAgent({ accountId, agentId }))
    .where('name', 'in', [...new Set(names)])
    .orderBy('name')
    .execute()
}

/**
 * Returns what is right to say: the correction of the answer, else what a member replied, else the answer itself if
 * nothing speaks against it.
 */
async function rightAnswer(
  db: Db,
  { accountId, agentId }: AgentRef,
  answer: MessageRow,
): Promise<{ text: string | null; sourceIds: string[] }> {
  const { rows } = await sql<{ id: string | null; text: string | null }>`
    (select id, content ->> 'answer' as text from sources
      where account_id = ${accountId} and agent_id = ${agentId} and message_id = ${answer.id}::uuid)
    union all (select null, suggested_answer from unanswered_questions
      where account_id = ${accountId} and message_id = ${answer.id}::uuid)`.execute(db)
  const [correction] = rows
  if (correction?.text) return { text: correction.text, sourceIds: correction.id ? [correction.id] : [] }
  const { outcome = null, sources = [], author, isHeld } = metadataOf(answer)
  const isBad =
    answer.feedback === 'negative' ||
    isHeld ||
    ['not_found', 'partly'].includes(presentedOutcome(outcome) ?? '')
  if (isBad) return { text: null, sourceIds: [] }
  const cited = author
    ? []
    : await existing(db, { accountId, agentId }, [...new Set(sources.map(({ id }) => id))])
  return { text: withoutMarkers(textOf(answer)).trim() || null, sourceIds: cited }
}

async function existing(db: Db, ref: AgentRef, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('sources')
    .select('id')
    .where(ofAgent(ref))
    .where('id', 'in', ids)
    .where('live_version', 'is not', null)
    .execute()
  return rows.map(({ id }) => id)
}
