import type { Db } from '../../../platform/db/database.ts'
import { type AgentRef, ownRow } from '../../../platform/db/refs.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import { lockInsights } from '../days/lock-agent.ts'
import { setTopics } from '../topics/assign-topics.ts'
import { type Candidate, keepCandidate } from '../topics/promote-candidates.ts'
import type { Unanswered } from '../unanswered/find-unanswered.ts'
import { groupQuestions } from '../unanswered/group-questions.ts'
import type { QuestionVectors } from '../unanswered/similar-questions.ts'
import type { Claim } from './claim-conversations.ts'
import type { Verdict } from './verdict.ts'

export type Analysis = {
  /** A model's judgement; null when no model has judged the conversation. */
  judged: { sentiment: Verdict['sentiment']; topicIds: readonly string[]; candidate: Candidate | null } | null
  unanswered: readonly Unanswered[]
  vectors: QuestionVectors
}

/** Stores the result. Returns false when something has happened in the conversation meanwhile. */
export async function storeAnalysis(
  db: Db,
  { accountId, agentId }: AgentRef,
  { id, held }: Claim,
  { judged, unanswered, vectors }: Analysis,
): Promise<boolean> {
  return transact(db, async (trx) => {
    await lockInsights(trx, agentId)
    const stored = await trx
      .updateTable('conversations')
      .set({
        sentiment: judged?.sentiment ?? null,
        sentiment_by: judged && 'model',
        topics_by: judged && 'model',
        analysed_at: new Date(),
      })
      .set({ analysis_due: null, analysis_held: null, analysis_tries: 0 })
      .where(ownRow(accountId, id))
      .where('analysis_held', '=', new Date(held))
      .returning('id')
      .executeTakeFirst()
    if (!stored) return false
    const place = { accountId, agentId, conversationId: id }
    await setTopics(trx, place, judged?.topicIds ?? [])
    await keepCandidate(trx, place, judged?.candidate ?? null)
    await groupQuestions(trx, vectors, place, unanswered)
    return true
  })
}

const FIRST_WAIT_MS = 5 * 60_000

/** Postpones the analysis: by 5 minutes after the first failure, then 15, then 45. */
export async function postpone(db: Db, ref: AgentRef, { id, held }: Claim, tries: number): Promise<void> {
  await db
    .updateTable('conversations')
    .set({ analysis_due: new Date(Date.now() + FIRST_WAIT_MS * 3 ** tries), analysis_held: null })
    .set({ analysis_tries: tries + 1 })
    .where(ownRow(ref.accountId, id))
    .where('analysis_held', '=', new Date(held))
    .execute()
}
