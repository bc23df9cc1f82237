import { similarityOfRows, type WordVectors } from '../../models/static/word-vectors.ts'
import { isDense } from '../../text/languages/dense-script.ts'
import { guessLanguageOfWords } from '../../text/languages/language.ts'
import type { Stemmer } from '../../text/languages/stem.ts'
import { isStopWord } from '../../text/languages/stop-words.ts'
import { characterNGrams } from '../../text/words/n-grams.ts'
import { splitWords } from '../../text/words/words.ts'

/** A question prepared for comparison. */
type QuestionPrint = { words: Word[]; total: number }
type Word = { stem: string; row: number; weight: number; grams(): ReadonlySet<string> }

const MOST_WORDS = 40
/** The similarity from which two words count as close in meaning, and close in spelling. */
const MEANT = 0.5
const SPELLED = 0.65
/** The vectors place Norway near Austria and import near export, so meaning alone never makes two words the same. */
const MEANING = 0.25
/** The minimum length, in characters, of a word within a longer one, as in compounds. */
const PART = 5
const PART_WORTH = 0.8

/** From this similarity on, two questions ask the same thing. */
export const SAME = 0.67

export function printOf(question: string, words: WordVectors, stem: Stemmer): QuestionPrint {
  const all = splitWords(question.slice(0, 2_000))
  const language = guessLanguageOfWords(all)
  const known = language === 'other' ? 'en' : language
  const telling = [...new Set(all)].filter((word) => !isStopWord(word, known))
  const kept = (telling.length > 0 ? telling : [...new Set(all)]).slice(0, MOST_WORDS).map((word): Word => {
    // The vectors only contain English words.
    const row = language === 'de' ? -1 : words.row(word)
    const weight = row < 0 ? 1 : (Math.log(row + 2) / Math.log(words.size + 2)) ** 2
    return { stem: stem(word, known), row, weight, grams: gramsOf(word) }
  })
  return { words: kept, total: kept.reduce((sum, { weight }) => sum + weight, 0) }
}

/** Computed on demand, because most questions have nothing in common. */
function gramsOf(word: string): () => ReadonlySet<string> {
  const [shortest, longest] = isDense(word) ? [2, 2] : [3, 4]
  let made: ReadonlySet<string> | null = null
  return () => {
    made ??= new Set(characterNGrams(word, shortest, longest))
    return made
  }
}

/**
 * Returns the average share, 0 to 1, of each question's words that the other one covers, weighted by how much they
 * tell.
 */
export function likeness(a: QuestionPrint, b: QuestionPrint, words: WordVectors): number {
  if (a.total === 0 || b.total === 0 || !shareSomething(a, b)) return 0
  return (covered(a, b, words) + covered(b, a, words)) / 2
}

/** Two questions without a common word, in whole or in part, cannot be the same, except in scripts without spaces. */
const shareSomething = (a: QuestionPrint, b: QuestionPrint): boolean =>
  a.words.some((word) =>
    b.words.some((other) => word.stem === other.stem || isPart(word, other) || isDense(word.stem)),
  )

const isPart = (a: Word, b: Word): boolean =>
  (a.stem.length >= PART && b.stem.includes(a.stem)) || (b.stem.length >= PART && a.stem.includes(b.stem))

function covered(a: QuestionPrint, b: QuestionPrint, words: WordVectors): number {
  const sum = a.words.reduce(
    (total, word) => total + word.weight * Math.max(0, ...b.words.map((other) => near(word, other, words))),
    0,
  )
  return sum / a.total
}

function near(a: Word, b: Word, words: WordVectors): number {
  if (a.stem === b.stem) return 1
  if (isPart(a, b)) return PART_WORTH
  const spelled = overlap(a.grams(), b.grams())
  const meant = a.row >= 0 && b.row >= 0 ? similarityOfRows(words, a.row, b.row) : 0
  return Math.max(spelled >= SPELLED ? spelled : 0, meant >= MEANT ? MEANING * meant : 0)
}

function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let common = 0
  for (const gram of a) if (b.has(gram)) common++
  return a.size + b.size === 0 ? 0 : (2 * common) / (a.size + b.size)
}
