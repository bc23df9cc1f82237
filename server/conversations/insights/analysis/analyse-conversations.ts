import { hasCredits } from '../../../accounts/plans/credits.ts'
import type { ResolvedModel } from '../../../ai/calls/model-call.ts'
import type { Context } from '../../../context.ts'
import { proposedLabels } from '../topics/proposed-labels.ts'
import { topicSettings, topicsOf } from '../topics/queries.ts'
import { topicKey } from '../topics/topic-key.ts'
import { findUnanswered, type Unanswered } from '../unanswered/find-unanswered.ts'
import { recentGroups } from '../unanswered/group-questions.ts'
import { addVectors, type QuestionVectors } from '../unanswered/similar-questions.ts'
import { analyseByModel } from './analyse-by-model.ts'
import type { AnalyseConversations, Claim } from './claim-conversations.ts'
import { type Loaded, loadConversation } from './load-conversation.ts'
import { type Analysis, postpone, storeAnalysis } from './store-analysis.ts'

type Deps = Pick<Context, 'db' | 'models' | 'log'>

/** The number of failures in one conversation after which the model is not asked about it again. */
const MAX_TRIES = 3

/** Analyses conversations one after another. Conversations that have continued since they were claimed are skipped. */
export async function analyseConversations(
  needs: Deps,
  { claims }: AnalyseConversations,
  signal: AbortSignal,
): Promise<void> {
  const vectors: QuestionVectors = new Map()
  for (const claim of claims) {
    signal.throwIfAborted()
    await analyse(needs, vectors, claim, signal)
  }
}

/** Without a language model, a conversation has no sentiment and no topics; its unanswered questions are found anyway. */
async function analyse(
  needs: Deps,
  vectors: QuestionVectors,
  claim: Claim,
  signal: AbortSignal,
): Promise<void> {
  const { db, models } = needs
  const loaded = await loadConversation(db, claim)
  if (!loaded) return
  const model = models.resolve(loaded.model)
  const isAsked =
    model !== null &&
    model.entry.provider !== 'builtin' &&
    loaded.tries < MAX_TRIES &&
    loaded.messages.some(({ role }) => role === 'user') &&
    // Otherwise strangers could cause model calls at no cost to them.
    (await hasCredits(db, loaded.accountId, {
      id: loaded.agentId,
      creditLimit: loaded.creditLimit,
      budget: loaded.guardrails?.budget,
    }))
  const open = findUnanswered(loaded.messages)
  const judged = isAsked ? await judge(needs, model, loaded, open, signal) : null
  if (isAsked && judged === null) return postpone(db, loaded, claim, loaded.tries)
  const unanswered = judged?.unanswered ?? open
  if (unanswered.length > 0 && models.embedder) {
    const questions = [...unanswered, ...(await recentGroups(db, loaded))].map(({ question }) => question)
    await addVectors(needs, vectors, questions, signal, loaded)
  }
  await storeAnalysis(db, loaded, claim, { judged, unanswered, vectors })
}

/** Classifies a conversation with a model; null when the model failed or its answer is not valid. */
async function judge(
  { db, log, models }: Deps,
  model: ResolvedModel,
  loaded: Loaded,
  open: readonly Unanswered[],
  signal: AbortSignal,
): Promise<(NonNullable<Analysis['judged']> & { unanswered: readonly Unanswered[] }) | null> {
  const topics = await topicsOf(db, loaded)
  const { frozen } = await topicSettings(db, loaded)
  const proposed = frozen ? [] : await proposedLabels(db, loaded)
  try {
    const names = { topics, proposed, open: open.map(({ messageId }) => messageId) }
    const verdict = await analyseByModel(models, model, loaded, names, signal)
    if (verdict === null) {
      log.debug(
        { conversation: loaded.id, model: model.entry.id },
        'the model did not classify a conversation',
      )
      return null
    }
    const { sentiment, newTopic } = verdict
    const topicIds = topics.filter(({ name }) => verdict.topics.includes(name)).map(({ id }) => id)
    const isNew = topicIds.length === 0 && newTopic !== null
    return {
      sentiment,
      topicIds,
      candidate: isNew ? { key: topicKey(newTopic), label: newTopic } : null,
      unanswered: open.filter((_, i) => verdict.unanswered?.includes(i + 1) ?? true),
    }
  } catch (error) {
    // The process is shutting down; another one will run the job again.
    signal.throwIfAborted()
    log.debug({ err: error, conversation: loaded.id }, 'the model did not classify a conversation')
    return null
  }
}
