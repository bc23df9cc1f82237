import type { Db, Trx } from '../../../platform/db/database.ts'
import { newId } from '../../../platform/db/ids.ts'
import { type AgentRef, type ConversationRef, ofAgent, ownRow } from '../../../platform/db/refs.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import { wordsOnly } from '../../../platform/text/words/words.ts'
import type { Unanswered } from './find-unanswered.ts'
import { hashed, recountGroups } from './recount-groups.ts'
import { sameQuestion } from './similar-questions.ts'

type Group = { id: string; key: string; question: string; status: string; answered_at: Date | null }

/** The number of groups that a question is compared with, most recently asked first. */
const COMPARED = 100

/**
 * Replaces the unanswered questions of a conversation with the given ones, and adds each to the group of questions that
 * are equal or, by their vectors, ask the same. A question that is asked again after its group was answered reopens the
 * group. The transaction holds the lock of the agent.
 */
export async function groupQuestions(
  trx: Trx,
  vectors: ReadonlyMap<string, Float32Array>,
  ref: ConversationRef,
  found: readonly Unanswered[],
): Promise<void> {
  const { accountId, agentId, conversationId } = ref
  const before = await trx
    .selectFrom('unanswered_questions')
    .select(['message_id', 'group_id', 'suggested_answer'])
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
    .execute()
  const known = new Map(before.map((row) => [row.message_id, row]))
  const touched = new Set<string>()
  for (const row of before) {
    const now = found.find(({ messageId }) => messageId === row.message_id)
    if (now && now.suggestedAnswer === row.suggested_answer) continue
    touched.add(row.group_id)
    await (now
      ? suggest(trx, accountId, row.message_id, now.suggestedAnswer)
      : forget(trx, accountId, row.message_id))
  }
  const added = found.filter(({ messageId }) => !known.has(messageId))
  for (const one of added) {
    const group =
      (await equalGroup(trx, ref, one)) ??
      sameQuestion(one.question, vectors.size > 0 ? await recentGroups(trx, ref) : [], vectors) ??
      (await addGroup(trx, ref, one))
    await addQuestion(trx, ref, group, one)
    touched.add(group.id)
  }
  await recountGroups(trx, { accountId, agentId }, [...touched])
}

async function suggest(
  trx: Trx,
  accountId: AccountId,
  messageId: string,
  answer: string | null,
): Promise<void> {
  await trx
    .updateTable('unanswered_questions')
    .set({ suggested_answer: answer })
    .where('account_id', '=', accountId)
    .where('message_id', '=', messageId)
    .execute()
}

async function forget(trx: Trx, accountId: AccountId, messageId: string): Promise<void> {
  await trx
    .deleteFrom('unanswered_questions')
    .where('account_id', '=', accountId)
    .where('message_id', '=', messageId)
    .execute()
}

const keyOf = ({ question }: Unanswered): string => hashed(wordsOnly(question))

async function equalGroup(
  trx: Trx,
  { accountId, agentId }: ConversationRef,
  one: Unanswered,
): Promise<Group | undefined> {
  return trx
    .selectFrom('unanswered_groups')
    .select(['id', 'key', 'question', 'status', 'answered_at'])
    .where(ofAgent({ accountId, agentId }))
    .where('key', '=', keyOf(one))
    .executeTakeFirst()
}

/** Returns the groups with which a question is compared. */
export async function recentGroups(db: Db, ref: AgentRef): Promise<Group[]> {
  return db
    .selectFrom('unanswered_groups')
    .select(['id', 'key', 'question', 'status', 'answered_at'])
    .where(ofAgent(ref))
    .orderBy('last_asked_at', 'desc')
    .limit(COMPARED)
    .execute()
}

async function addGroup(trx: Trx, { accountId, agentId }: ConversationRef, one: Unanswered): Promise<Group> {
  const group = { id: newId(), key: keyOf(one), question: one.question, status: 'open' as const }
  await trx
    .insertInto('unanswered_groups')
    .values({ ...group, account_id: accountId, agent_id: agentId, last_asked_at: one.askedAt })
    .execute()
  return { ...group, answered_at: null }
}

async function addQuestion(trx: Trx, ref: ConversationRef, group: Group, one: Unanswered): Promise<void> {
  const { accountId, agentId, conversationId } = ref
  await trx
    .insertInto('unanswered_questions')
    .values({
      message_id: one.messageId,
      account_id: accountId,
      agent_id: agentId,
      conversation_id: conversationId,
      group_id: group.id,
      question: one.question,
      suggested_answer: one.suggestedAnswer,
      asked_at: one.askedAt,
    })
    .execute()
  if (group.status !== 'answered' || (group.answered_at && one.askedAt <= group.answered_at)) return
  await trx
    .updateTable('unanswered_groups')
    .set({ status: 'open' })
    .where(ownRow(accountId, group.id))
    .execute()
}
