import { splitWords } from '../server/platform/text/words/words.ts'
import { readCollections } from './answers/load-collections.ts'

type Random = () => number

/** Returns a generator of the same numbers from 0 to 1 every time. */
export function random(seed: number): Random {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** The distinct words of the questions about the companies, the most frequent first. */
export const QUESTION_WORDS: readonly string[] = wordsOfQuestions()

function wordsOfQuestions(): string[] {
  const counts = new Map<string, number>()
  for (const { answerable, near, far } of readCollections())
    for (const text of [...answerable.map(({ question }) => question), ...near, ...far])
      for (const word of splitWords(text)) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1]).map(([word]) => word)
}

// The list is sorted by frequency, so this picks words about as often as they occur in texts.
const word = (next: Random): string =>
  QUESTION_WORDS[Math.floor(QUESTION_WORDS.length ** next()) - 1] ?? 'the'
export const sentence = (next: Random, length: number): string =>
  `${Array.from({ length }, () => word(next)).join(' ')}.`
