import { contentOfDense, isDense, wordsAndPairs } from '../../text/languages/dense-script.ts'
import { guessLanguageOfWords } from '../../text/languages/language.ts'
import { isStopWord } from '../../text/languages/stop-words.ts'
import { characterNGrams } from '../../text/words/n-grams.ts'
import { visibleText } from '../../text/words/visible-text.ts'
import { splitWords } from '../../text/words/words.ts'
import { informationOf, meanVector } from '../static/mean-vector.ts'
import { similarityOfRows, type WordVectors } from '../static/word-vectors.ts'

export type ScoreSentence = (sentence: string) => number

/**
 * Scores how well a sentence fits a question, from 0 to about 2: by shared words in any spelling, and by closeness of
 * meaning (in English only, which the word vectors cover).
 */
export function scorerFor(question: string, words: WordVectors): ScoreSentence {
  const all = splitWords(question.slice(0, 4_000)).slice(0, 100)
  const told = guessLanguageOfWords(all)
  const language = told === 'other' ? 'en' : told
  const content = [...new Set(all)]
    .filter((word) => !isStopWord(word, language))
    .flatMap((word) => (isDense(word) ? contentOfDense(word) : [word]))
  const asked = content.map((word) => ({
    word,
    row: words.row(word),
    grams: new Set(characterNGrams(word, 3, 4)),
    weight: informationOf(words, words.row(word)),
  }))
  const total = asked.reduce((sum, { weight }) => sum + weight, 0) || 1
  const mean = language !== 'en' ? null : meanVector(words, content)

  return (sentence) => {
    const said = [...new Set(wordsAndPairs(splitWords(visibleText(sentence))))]
    const rows = language !== 'en' ? [] : said.map((word) => words.row(word)).filter((row) => row >= 0)
    const grams = said.map((word) => characterNGrams(word, 3, 4))
    let shared = 0
    for (const { word, row, grams: own, weight } of asked) {
      const spelled = said.includes(word) ? 1 : Math.max(0, ...grams.map((other) => overlap(own, other)))
      const meant = row < 0 ? 0 : Math.max(0, ...rows.map((other) => similarityOfRows(words, row, other)))
      shared += weight * Math.max(spelled, 0.8 * meant)
    }
    return shared / total + (mean ? cosine(mean, meanVector(words, said)) : 0)
  }
}

/** Returns the share of common n-grams; a similarity that may be chance counts as none. */
function overlap(own: ReadonlySet<string>, other: readonly string[]): number {
  const common = other.reduce((count, gram) => count + (own.has(gram) ? 1 : 0), 0)
  const share = (2 * common) / (own.size + other.length)
  return share >= 0.35 ? share : 0
}

function cosine(a: Float32Array, b: Float32Array | null): number {
  return b
    ? Math.max(
        0,
        a.reduce((sum, value, i) => sum + value * b[i]!, 0),
      )
    : 0
}
