import type { WordVectors } from '../static/word-vectors.ts'
import type { BuiltinInput } from './input.ts'
import { quotableSentences } from './quotable-sentences.ts'
import { scorerFor } from './score-sentence.ts'

/** A sentence to quote: which passage it is from (index) and its place there. */
export type Quote = { passage: number; place: number; text: string }

type Limits = {
  /** Passages looked at, from the best on. */
  passages: number
  sentences: number
  /** So many are taken from the best sentence's passage, good or not, if it has them. */
  fewest: number
  /** Share of the best sentence's score that another one needs. */
  share: number
  /** Share of the best passage's score that another passage needs. */
  passageShare: number
}

/** A sentence that begins so is not understood without the one before. */
const LEANS_BACK =
  /^(it|they|this|that|these|those|then|after that|afterwards|each|both|he|she|es|sie|er|dies|diese|dieser|dann|danach|dort|dafür|damit|diesen)\b/i
const PASSAGE_WEIGHT = 0.8
const FIRST_PASSAGE = 0.25

/** The sentences that fit the question best, in the order of passages and of their text; at least one if there is any. */
export function chooseSentences(input: BuiltinInput, words: WordVectors, limits: Limits): Quote[] {
  const score = scorerFor(input.question, words)
  const leastPassage = (input.passages[0]?.score ?? 0) * limits.passageShare
  const scored = input.passages.slice(0, limits.passages).flatMap((passage, index) => {
    if (passage.score < leastPassage) return []
    const heading = score(passage.headingPath.at(-1) ?? '')
    return quotableSentences(passage.text).map((text, place) => ({
      quote: { passage: index, place, text },
      score: score(text) + 0.3 * heading + PASSAGE_WEIGHT * passage.score + (index === 0 ? FIRST_PASSAGE : 0),
    }))
  })
  scored.sort(
    (a, b) => b.score - a.score || a.quote.passage - b.quote.passage || a.quote.place - b.quote.place,
  )
  const least = (scored[0]?.score ?? 0) * limits.share
  const chosen = new Set<Quote>()
  const texts = new Set<string>()
  const add = (quote: Quote): void => {
    if (chosen.size >= limits.sentences || texts.has(quote.text)) return
    chosen.add(quote)
    texts.add(quote.text)
  }
  for (const { quote, score: reached } of scored) {
    if (reached < least && (chosen.size >= limits.fewest || quote.passage !== scored[0]!.quote.passage))
      continue
    add(quote)
    if (!LEANS_BACK.test(quote.text)) continue
    const before = scored.find(({ quote: q }) => q.passage === quote.passage && q.place === quote.place - 1)
    if (before) add(before.quote)
  }
  return [...chosen].sort((a, b) => a.passage - b.passage || a.place - b.place)
}
