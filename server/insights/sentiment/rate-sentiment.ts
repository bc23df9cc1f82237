import { splitWords } from '../../text/words/words.ts'
import type { Lexicon } from './lexicon.ts'

export type Sentiment = 'positive' | 'neutral' | 'negative'

/** The signals of a conversation. */
type Signals = {
  /** The customer's messages, oldest first. */
  messages: readonly string[]
  ratings: { positive: number; negative: number }
  escalated: boolean
}

const REACH = 3
const TURNED = -0.8
/** The limit for one message in either direction, so that a single outburst does not decide. */
const MOST = 6
const WORDS_READ = 400
/** From this sum on, a conversation is no longer neutral. */
const CLEAR = 1.5

/** Rates a customer's mood by lists of English and German words, ratings, and whether they asked for a person. */
export function rateSentiment(lexicon: Lexicon, { messages, ratings, escalated }: Signals): Sentiment {
  const last = messages.length - 1
  // The end of a conversation weighs more than its beginning.
  const said = messages.reduce(
    (sum, text, i) => sum + moodOf(lexicon, text) * (i === last ? 1.5 : 0.6 + (0.4 * i) / messages.length),
    0,
  )
  const rated = 3 * (Math.min(ratings.positive, 2) - Math.min(ratings.negative, 2))
  const score = said + rated - (escalated ? 0.75 : 0)
  return score >= CLEAR ? 'positive' : score <= -CLEAR ? 'negative' : 'neutral'
}

/** Below 0, the customer is displeased. */
function moodOf(lexicon: Lexicon, text: string): number {
  let mood = 0
  for (const [sign, weight] of lexicon.signs) mood += weight * Math.min(countOf(text, sign), 2)
  const words = splitWords(text.slice(0, 4_000)).slice(0, WORDS_READ)
  let rest = words.join(' ')
  for (const [phrase, weight] of lexicon.phrases) {
    mood += weight * Math.min(countOf(rest, phrase), 2)
    rest = rest.replace(phrase, '.')
  }
  const left = rest.split(' ')
  for (const [i, word] of left.entries()) {
    const weight = lexicon.weightOf(word)
    if (weight === 0) continue
    const before = left.slice(Math.max(0, i - REACH), i)
    const turned = before.some((other) => lexicon.negations.has(other)) || left[i + 1] === 'nicht'
    const factor = lexicon.factorOf(before.at(-1) ?? '')
    mood += weight * factor * (turned ? TURNED : 1)
  }
  if (mood < 0 && /!{2,}|\b\p{Lu}{4,}\b.*\b\p{Lu}{4,}\b/u.test(text)) mood *= 1.3
  return Math.max(-MOST, Math.min(MOST, mood))
}

const countOf = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0
