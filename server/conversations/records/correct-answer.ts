import { requireAgent } from '../../agents/records/find-agent.ts'
import type { Context } from '../../context.ts'
import { withoutMarkers } from '../../knowledge/search/answering/citations.ts'
import { type Account, insertSource } from '../../knowledge/sources/add-source.ts'
import { changeAnswer, qnaColumns } from '../../knowledge/sources/qna-source.ts'
import type { SourceRow } from '../../knowledge/sources/queries.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { ApiError, invalidField } from '../../platform/http/errors.ts'
import { saysNoAnswer } from '../../platform/text/languages/customer-sentences.ts'
import { wordsOnly } from '../../platform/text/words/words.ts'
import { textOf } from './parts.ts'
import { type MessageRow, requireConversation } from './queries.ts'

type MessagePath = { agentId: string; conversationId: string; messageId: string }
type Correction = { answer: string; question?: string }

/** The same limit as for the question of a source (knowledge/schema.ts). */
const MAX_QUESTION_LENGTH = 1_000

/**
 * Refuses an answer for the agent to learn that is what it has said itself, or that there is no answer. Throws
 * VALIDATION_INVALID_BODY.
 */
export function refuseAsRight(answer: string, said: readonly string[]): void {
  const given = wordsOnly(withoutMarkers(answer))
  if (given !== '' && said.some((text) => wordsOnly(withoutMarkers(text)) === given))
    throw invalidField('answer', 'The agent has said just this. Write what it should say instead.')
  if (saysNoAnswer(answer.trim()))
    throw invalidField(
      'answer',
      'This says that there is no answer. Write what the agent should say instead.',
    )
}

/**
 * Turns the corrected answer into a source of the agent, or updates the source that an earlier correction of this
 * message created. Throws RESOURCE_NOT_FOUND, RESOURCE_MESSAGE_NOT_FOUND, RESOURCE_MESSAGE_NOT_ASSISTANT,
 * SOURCE_SIZE_LIMIT_EXCEEDED, and as refuseAsRight does.
 */
export async function correctAnswer(
  ctx: Pick<Context, 'db' | 'jobs' | 'filesDir'>,
  account: Account,
  { agentId, conversationId, messageId }: MessagePath,
  correction: Correction,
): Promise<SourceRow> {
  await requireConversation(ctx.db, { accountId: account.id, agentId, conversationId })
  const message = await requireAnswer(ctx.db, account, conversationId, messageId)
  refuseAsRight(correction.answer, [textOf(message)])
  const source = await transact(ctx.db, async (trx) => {
    // Two concurrent corrections of one answer must not both conclude that there is none yet.
    await requireAgent(trx, { accountId: account.id, agentId }, 'update')
    const found = await correctionOf(trx, account, agentId, messageId)
    if (found) return found
    const asked = correction.question ?? (await questionBefore(trx, account, message))
    return insertSource(trx, ctx.jobs, account, agentId, {
      ...qnaColumns([asked], correction.answer),
      metadata: json({ conversationId, messageId }),
      message_id: messageId,
    })
  })
  return changeAnswer(ctx, account, agentId, source, correction)
}

async function requireAnswer(
  db: Db,
  account: Account,
  conversationId: string,
  messageId: string,
): Promise<MessageRow> {
  const row = isId(messageId)
    ? await db
        .selectFrom('messages')
        .selectAll()
        .where('account_id', '=', account.id)
        .where('conversation_id', '=', conversationId)
        .where('id', '=', messageId)
        .executeTakeFirst()
    : undefined
  if (!row) throw new ApiError('RESOURCE_MESSAGE_NOT_FOUND')
  if (row.role !== 'assistant') throw new ApiError('RESOURCE_MESSAGE_NOT_ASSISTANT')
  return row
}

function correctionOf(
  trx: Trx,
  account: Account,
  agentId: string,
  messageId: string,
): Promise<SourceRow | undefined> {
  return trx
    .selectFrom('sources')
    .selectAll()
    .where('account_id', '=', account.id)
    .where('agent_id', '=', agentId)
    .where('message_id', '=', messageId)
    .executeTakeFirst()
}

/** Returns the question that the answer belongs to: the last user message before it. */
async function questionBefore(trx: Trx, account: Account, answer: MessageRow): Promise<string> {
  const row = await trx
    .selectFrom('messages')
    .select('parts')
    .where('account_id', '=', account.id)
    .where('conversation_id', '=', answer.conversation_id)
    .where('role', '=', 'user')
    .where('seq', '<', answer.seq)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  const text = row ? textOf(row).trim() : ''
  if (text === '') {
    throw invalidField(
      'question',
      'Nothing was asked before this message: send the question that it answers.',
    )
  }
  if (text.length > MAX_QUESTION_LENGTH) {
    throw invalidField('question', 'What was asked before this message is too long: send a shorter question.')
  }
  return text
}
