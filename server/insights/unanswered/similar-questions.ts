import { similarityOfRows, type WordVectors } from '../../models/static/word-vectors.ts'
import { isDense } from '../../text/languages/dense-script.ts'
import { guessLanguageOfWords } from '../../text/languages/language.ts'
import type { Stemmer } from '../../text/languages/stem.ts'
import { isStopWord } from '../../text/languages/stop-words.ts'
import { characterNGrams } from '../../text/words/n-grams.ts'
import { splitWords } from '../../text/words/words.ts'

/** A question as it is compared. */
type QuestionPrint = { words: Word[]; total: number }
type Word = { stem: string; row: number; weight: number; grams(): ReadonlySet<string> }

const MOST_WORDS = 40
/** Two words are near in meaning from here on, and near in spelling. */
const MEANT = 0.5
const SPELLED = 0.65
/** The vectors find Norway near Austria and import near export: by meaning alone nothing is the same. */
const MEANING = 0.25
/** A word within a longer one, as in compounds; characters. */
const PART = 5
const PART_WORTH = 0.8

/** From here on two questions ask the same. */
export const SAME = 0.67

export function printOf(question: string, words: WordVectors, stem: Stemmer): QuestionPrint {
  const all = splitWords(question.slice(0, 2_000))
  const language = guessLanguageOfWords(all)
  const known = language === 'other' ? 'en' : language
  const telling = [...new Set(all)].filter((word) => !isStopWord(word, known))
  const kept = (telling.length > 0 ? telling : [...new Set(all)]).slice(0, MOST_WORDS).map((word): Word => {
    // The vectors are of English words.
    const row = language === 'de' ? -1 : words.row(word)
    const weight = row < 0 ? 1 : (Math.log(row + 2) / Math.log(words.size + 2)) ** 2
    return { stem: stem(word, known), row, weight, grams: gramsOf(word) }
  })
  return { words: kept, total: kept.reduce((sum, { weight }) => sum + weight, 0) }
}

/** Made when they are needed: most questions have nothing in common. */
function gramsOf(word: string): () => ReadonlySet<string> {
  const [shortest, longest] = isDense(word) ? [2, 2] : [3, 4]
  let made: ReadonlySet<string> | null = null
  return () => {
    made ??= new Set(characterNGrams(word, shortest, longest))
    return made
  }
}

/** 0..1: the share of each question's words, weighted by what they tell, that the other has in its own way. */
export function likeness(a: QuestionPrint, b: QuestionPrint, words: WordVectors): number {
  if (a.total === 0 || b.total === 0 || !shareSomething(a, b)) return 0
  return (covered(a, b, words) + covered(b, a, words)) / 2
}

/** Without a word in common, whole or in part, two questions cannot be the same; scripts without spaces aside. */
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
