import { jsonAnswer } from '../../../ai/calls/call-model.ts'
import { tidyName, topicKey } from '../topics/topic-key.ts'

type Sentiment = 'positive' | 'neutral' | 'negative'

/** A model's analysis of a conversation. */
export type Verdict = {
  sentiment: Sentiment
  /** Names of known topics, spelled as in the list. */
  topics: string[]
  /** A new topic that is not in the list. */
  newTopic: string | null
  /** The numbers of the answers that leave a question open; null if the model did not say. */
  unanswered: number[] | null
}

type KnownTopic = { name: string; aliases: readonly string[] }

const SENTIMENTS: readonly Sentiment[] = ['positive', 'neutral', 'negative']
const MAX_LENGTH = 4_000

/**
 * Parses a model's answer, which is one JSON object, possibly in a code fence. Returns null for anything else; names
 * that are neither in the list nor an alias are dropped.
 */
export function readVerdict(text: string, known: readonly KnownTopic[], most: number): Verdict | null {
  const value = text.length > MAX_LENGTH ? null : jsonAnswer(text)
  if (value === null) return null
  const { sentiment, topics, newTopic, unanswered } = value
  const mood = SENTIMENTS.find((one) => one === sentiment)
  if (!mood || !Array.isArray(topics)) return null
  if (newTopic !== undefined && newTopic !== null && typeof newTopic !== 'string') return null
  const spelled = new Map(
    known.flatMap(({ name, aliases }) => [...aliases, name].map((other) => [topicKey(other), name])),
  )
  const chosen = topics.flatMap((name) =>
    typeof name === 'string' && name.length <= MAX_LENGTH ? (spelled.get(topicKey(name)) ?? []) : [],
  )
  const proposed = typeof newTopic === 'string' ? tidyName(newTopic) : null
  const isKnown = proposed !== null && spelled.get(topicKey(proposed))
  return {
    sentiment: mood,
    topics: [...new Set([...chosen, ...(isKnown ? [isKnown] : [])])].slice(0, most),
    newTopic: isKnown ? null : proposed,
    unanswered: Array.isArray(unanswered) ? unanswered.filter((n) => Number.isInteger(n)) : null,
  }
}
