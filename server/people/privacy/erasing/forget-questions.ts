import { sql } from 'kysely'
import { holdAgent } from '../../../agents/records/find-agent.ts'
import { bumpKnowledgeVersion } from '../../../agents/records/knowledge-state.ts'
import { textOf } from '../../../conversations/records/parts.ts'
import { fixedKeys } from '../../../knowledge/search/answering/retrieve.ts'
import { qnaColumns } from '../../../knowledge/sources/qna-source.ts'
import { requireSource } from '../../../knowledge/sources/queries.ts'
import { enqueueTraining } from '../../../knowledge/training/enqueue-training.ts'
import { deleteVectors } from '../../../knowledge/vectors/vectors.ts'
import type { Db, Trx } from '../../../platform/db/database.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { MessagePart } from '../../../platform/db/tables/conversations.ts'
import type { Jobs } from '../../../platform/jobs/jobs.ts'

type Deps = { db: Db; jobs: Pick<Jobs, 'enqueue'> }
type Correction = { id: string; agent_id: string; conversation_id: string; questions: string[] }

const MESSAGES = 200
/** The maximum length, in characters, of the part of the answer that replaces a question. */
const OPENING = 200

/**
 * Detaches corrections of answers in these conversations, and answers to their unanswered questions, from the
 * conversations. The answer belongs to the company and is kept. A question in the person's own words is replaced at
 * once with the beginning of the answer.
 */
export async function forgetQuestions(
  { db, jobs }: Deps,
  accountId: AccountId,
  conversationIds: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<Correction>`
    select id, agent_id, metadata ->> 'conversationId' as conversation_id, content -> 'questions' as questions
    from sources where account_id = ${accountId} and message_id is not null
      and metadata ->> 'conversationId' = any(${conversationIds}::text[])
    union
    select s.id, s.agent_id, q.conversation_id::text, s.content -> 'questions'
    from unanswered_questions as q join unanswered_groups as g on g.id = q.group_id
    join sources as s on s.id = g.source_id and s.content ? 'questions'
    where q.account_id = ${accountId} and q.conversation_id = any(${conversationIds}::uuid[])`.execute(db)
  for (const row of rows) {
    const own = await saidBy(db, accountId, row)
    await transact(db, (trx) => detach(trx, jobs, accountId, row, own))
  }
  return rows.map(({ id }) => id)
}

/** Returns the questions that the user asked word for word. */
async function saidBy(
  db: Db,
  accountId: AccountId,
  { conversation_id, questions }: Correction,
): Promise<Set<string>> {
  const own = new Set<string>()
  for (let afterSeq = 0; own.size < questions.length; ) {
    const rows: { seq: number; parts: MessagePart[] }[] = await db
      .selectFrom('messages')
      .select(['seq', 'parts'])
      .where('account_id', '=', accountId)
      .where('conversation_id', '=', conversation_id)
      .where('role', '=', 'user')
      .where('seq', '>', afterSeq)
      .orderBy('seq')
      .limit(MESSAGES)
      .execute()
    const said = new Set(rows.map((row) => textOf(row).trim()))
    for (const question of questions) if (said.has(question.trim())) own.add(question)
    afterSeq = rows.at(-1)?.seq ?? 0
    if (rows.length < MESSAGES) break
  }
  return own
}

async function detach(
  trx: Trx,
  jobs: Deps['jobs'],
  accountId: AccountId,
  { id, agent_id }: Correction,
  own: ReadonlySet<string>,
): Promise<void> {
  await holdAgent(trx, { accountId, agentId: agent_id })
  const source = await requireSource(trx, { accountId, agentId: agent_id, sourceId: id }, true).catch(
    () => null,
  )
  if (!source || source.status === 'toBeDeleted') return
  const { questions = [], answer = '' } = source.content
  const kept = questions.filter((question) => !own.has(question))
  const changed = trx.updateTable('sources').where('account_id', '=', accountId).where('id', '=', id)
  if (kept.length === questions.length) {
    if (source.message_id !== null) await changed.set({ message_id: null, metadata: null }).execute()
    return
  }
  const [first = answer.slice(0, OPENING).toWellFormed(), ...others] = kept
  for (const table of ['chunks', 'chunk_vectors'] as const)
    await trx.deleteFrom(table).where('account_id', '=', accountId).where('source_id', '=', id).execute()
  await deleteVectors(trx, { id, account_id: accountId, agent_id })
  const row = await changed
    .set((eb) => ({
      message_id: null,
      metadata: null,
      ...qnaColumns([first, ...others], answer),
      fixed_keys: source.fixed_keys === null ? null : fixedKeys([first, ...others]),
      content_version: eb('content_version', '+', 1),
      live_version: null,
      content_hash: null,
      status: 'untrained' as const,
      error: null,
      updated_at: new Date(),
    }))
    .returning(['id', 'account_id', 'link_type', 'content_version', 'type', 'content'])
    .executeTakeFirstOrThrow()
  await bumpKnowledgeVersion(trx, { accountId, agentId: agent_id })
  await enqueueTraining(jobs, trx, row)
}
