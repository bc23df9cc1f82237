import type { Trx } from '../../db/database.ts'
import { newId } from '../../db/ids.ts'
import type { ConversationRef } from '../../db/refs.ts'
import type { AccountId } from '../../db/tables/columns.ts'
import type { WordVectors } from '../../models/static/word-vectors.ts'
import type { Stemmer } from '../../text/languages/stem.ts'
import { wordsOnly } from '../../text/words/words.ts'
import type { Unanswered } from './find-unanswered.ts'
import { hashed, recountGroups } from './recount-groups.ts'
import { likeness, printOf, SAME } from './similar-questions.ts'

type Tools = { words: WordVectors; stem: Stemmer }
type Group = { id: string; key: string; question: string; status: string; answered_at: Date | null }

/** The number of groups that a question is compared with, most recently asked first. */
const COMPARED = 500

/**
 * Replaces the unanswered questions of a conversation with the given ones, and adds each to the group of similar
 * questions. A question that is asked again after its group was answered reopens the group. The transaction holds the
 * lock of the agent.
 */
export async function groupQuestions(
  trx: Trx,
  { words, stem }: Tools,
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
  let find: ReturnType<typeof finder> | null = null
  for (const one of added) {
    let group = await equalGroup(trx, ref, one)
    if (!group) {
      find ??= finder(words, stem, await recentGroups(trx, ref))
      group = find(one.question) ?? (await addGroup(trx, ref, one))
    }
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
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
    .where('key', '=', keyOf(one))
    .executeTakeFirst()
}

async function recentGroups(trx: Trx, { accountId, agentId }: ConversationRef): Promise<Group[]> {
  return trx
    .selectFrom('unanswered_groups')
    .select(['id', 'key', 'question', 'status', 'answered_at'])
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
    .orderBy('last_asked_at', 'desc')
    .limit(COMPARED)
    .execute()
}

/** Returns a function that finds the group of the most similar question, if one is similar enough. */
function finder(
  words: WordVectors,
  stem: Stemmer,
  groups: readonly Group[],
): (question: string) => Group | undefined {
  const prints = groups.map((group) => ({ group, print: printOf(group.question, words, stem) }))
  return (question) => {
    const asked = printOf(question, words, stem)
    let best: { group: Group; reached: number } | null = null
    for (const { group, print } of prints) {
      const reached = likeness(asked, print, words)
      if (reached >= SAME && reached > (best?.reached ?? 0)) best = { group, reached }
    }
    return best?.group
  }
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
    .where('account_id', '=', accountId)
    .where('id', '=', group.id)
    .execute()
}
