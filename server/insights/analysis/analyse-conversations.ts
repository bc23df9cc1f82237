import { hasCredits } from '../../accounts/plans/credits.ts'
import type { Context } from '../../context.ts'
import { textOf } from '../../conversations/records/parts.ts'
import type { ResolvedModel } from '../../models/calls/model-call.ts'
import { createStemmer, type Stemmer } from '../../text/languages/stem.ts'
import { createLexicon, type Lexicon } from '../sentiment/lexicon.ts'
import { rateSentiment } from '../sentiment/rate-sentiment.ts'
import { matchTopics } from '../topics/match-topics.ts'
import { nounPhrases } from '../topics/noun-phrases.ts'
import { proposedLabels } from '../topics/proposed-labels.ts'
import { type TopicRow, topicSettings, topicsOf } from '../topics/queries.ts'
import { topicKey } from '../topics/topic-key.ts'
import { findUnanswered } from '../unanswered/find-unanswered.ts'
import { analyseByModel } from './analyse-by-model.ts'
import type { AnalyseConversations, Claim } from './claim-conversations.ts'
import { type Loaded, loadConversation } from './load-conversation.ts'
import { type Analysis, postpone, storeAnalysis } from './store-analysis.ts'

type Needs = Pick<Context, 'db' | 'models' | 'words' | 'log'>

/** The number of failures in one conversation after which the model is not asked about it again. */
const MOST_TRIES = 3
/** The number of the customer's newest messages that the word lists examine. */
const READ = 100

/** Analyses conversations one after another. Conversations that have continued since they were claimed are skipped. */
export async function analyseConversations(
  needs: Needs,
  { claims }: AnalyseConversations,
  signal: AbortSignal,
): Promise<void> {
  const tools = { stem: createStemmer(5_000), lexicon: createLexicon() }
  for (const claim of claims) {
    signal.throwIfAborted()
    await analyse(needs, tools, claim, signal)
  }
}

async function analyse(needs: Needs, tools: Tools, claim: Claim, signal: AbortSignal): Promise<void> {
  const { db, models } = needs
  const loaded = await loadConversation(db, claim)
  if (!loaded) return
  const model = models.resolve(loaded.model)
  const topics = await topicsOf(db, loaded)
  const isAsked =
    model !== null &&
    model.entry.provider !== 'builtin' &&
    loaded.tries < MOST_TRIES &&
    loaded.messages.some(({ role }) => role === 'user') &&
    // Otherwise strangers could cause model calls at no cost to them.
    (await hasCredits(db, loaded.accountId, { id: loaded.agentId, creditLimit: loaded.creditLimit }))
  const found = isAsked ? await byModel(needs, model, loaded, topics, signal) : byWords(tools, loaded, topics)
  if (found === null) await postpone(db, loaded, claim, loaded.tries)
  else
    await storeAnalysis(needs, tools.stem, loaded, claim, {
      ...found,
      unanswered: findUnanswered(loaded.messages, tools.lexicon),
    })
}

type Tools = { stem: Stemmer; lexicon: Lexicon }
type Found = Omit<Analysis, 'unanswered'>

/** Classifies a conversation with a model; null when the model failed or its answer is not valid. */
async function byModel(
  { db, log, models }: Needs,
  model: ResolvedModel,
  loaded: Loaded,
  topics: readonly TopicRow[],
  signal: AbortSignal,
): Promise<Found | null> {
  const { frozen } = await topicSettings(db, loaded)
  const proposed = frozen ? [] : await proposedLabels(db, loaded)
  try {
    const verdict = await analyseByModel(models, model, loaded, { topics, proposed }, signal)
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
    const candidates = isNew ? [{ key: topicKey(newTopic), label: newTopic, origin: 'model' as const }] : []
    return { by: 'model', sentiment, topicIds, candidates }
  } catch (error) {
    // The process is shutting down; another one will run the job again.
    signal.throwIfAborted()
    log.debug({ err: error, conversation: loaded.id }, 'the model did not classify a conversation')
    return null
  }
}

function byWords({ stem, lexicon }: Tools, loaded: Loaded, topics: readonly TopicRow[]): Found {
  const { messages, escalated, agentName } = loaded
  const said = messages
    .filter(({ role }) => role === 'user')
    .map(textOf)
    .slice(-READ)
  const rated = (feedback: 'positive' | 'negative') =>
    messages.filter((message) => message.feedback === feedback).length
  const ratings = { positive: rated('positive'), negative: rated('negative') }
  const topicIds = matchTopics(topics, said, stem).map(({ id }) => id)
  const name = new Set(nounPhrases([agentName], stem).map(({ key }) => key))
  const phrases = topicIds.length > 0 ? [] : nounPhrases(said, stem).filter(({ key }) => !name.has(key))
  return {
    by: 'heuristic',
    sentiment: said.length === 0 ? null : rateSentiment(lexicon, { messages: said, ratings, escalated }),
    topicIds,
    candidates: phrases.map((phrase) => ({ ...phrase, origin: 'heuristic' })),
  }
}
