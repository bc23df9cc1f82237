import { everydaySubjects } from '../../text/everyday/everyday-words.ts'
import { contentOfDense, isDense, wordsAndPairs } from '../../text/languages/dense-script.ts'
import { guessLanguageOfWords, type Language } from '../../text/languages/language.ts'
import { createStemmer } from '../../text/languages/stem.ts'
import { isStopWord } from '../../text/languages/stop-words.ts'
import { foldAccents } from '../../text/words/fold-accents.ts'
import { characterNGrams } from '../../text/words/n-grams.ts'
import { visibleText } from '../../text/words/visible-text.ts'
import { foldText, splitWords } from '../../text/words/words.ts'
import { informationOf, meanVector } from '../static/mean-vector.ts'
import { similarityOfRows, type WordVectors } from '../static/word-vectors.ts'
import { askedValues, hasValue } from './asked-value.ts'

export type ScoreSentence = (sentence: string) => number

/**
 * Scores how well a sentence fits a question, from 0 to about 2: by shared words in any spelling, and by closeness of
 * meaning (in English only, which the word vectors cover). `expected` is the language of the question, if it is known.
 */
export function scorerFor(question: string, expected: Language, words: WordVectors): ScoreSentence {
  const all = splitWords(question.slice(0, 4_000)).slice(0, 100)
  const told = expected === 'other' ? guessLanguageOfWords(all) : expected
  const language = told === 'other' ? 'en' : told
  const content = [...new Set(all)]
    .filter((word) => !isStopWord(word, language))
    .flatMap((word) => (isDense(word) ? contentOfDense(word).map(({ pair }) => pair) : [word]))
  const stem = createStemmer()
  const named = everydaySubjects(all, language, stem)
  const values = askedValues(all, language, named)
  const subjects = named.map(({ asked: own, said }) => ({
    own,
    said: said.map((word) => (isDense(word) ? word : stem(word, language))),
  }))
  // A subject that is named by stop words alone, as in "When are you open?", has the words of documents in their place.
  const unnamed = subjects
    .filter(({ own }) => !own.some((word) => content.includes(word)))
    .map(({ said }) => ({ word: said[0]!, kin: said }))
  const own = content.map((word) => ({
    word,
    kin: subjects.filter(({ own }) => own.includes(word)).flatMap(({ said }) => said),
  }))
  const asked = [...own, ...unnamed].map(({ word, kin }) => ({
    word,
    kin,
    value: values.find(({ words: of }) => of.includes(word)),
    row: words.row(word),
    grams: new Set(characterNGrams(word, 3, 4)),
    weight: informationOf(words, words.row(word)),
  }))
  // A value may be asked for by stop words alone, as in "How much is it?".
  const alone = values.filter(({ words: of }) => !content.some((word) => of.includes(word)))
  const total = asked.reduce((sum, { weight }) => sum + weight, alone.length) || 1
  const mean = language !== 'en' ? null : meanVector(words, content)

  return (sentence) => {
    const said = [...new Set(wordsAndPairs(splitWords(visibleText(sentence))))]
    const rows = language !== 'en' ? [] : said.map((word) => words.row(word)).filter((row) => row >= 0)
    const grams = said.map((word) => characterNGrams(word, 3, 4))
    const plain = subjects.length > 0 ? said.map(foldAccents) : []
    const letters = subjects.length > 0 ? foldText(visibleText(sentence)) : ''
    let shared = alone.filter((value) => hasValue(sentence, value)).length
    for (const { word, kin, value, row, grams: own, weight } of asked) {
      const spelled = said.includes(word) ? 1 : Math.max(0, ...grams.map((other) => overlap(own, other)))
      const meant = row < 0 ? 0 : Math.max(0, ...rows.map((other) => similarityOfRows(words, row, other)))
      const isKin = kin.some((one) =>
        isDense(one) ? letters.includes(one) : plain.some((other) => begins(other, one)),
      )
      const likeness = Math.max(spelled, 0.8 * meant, isKin ? 0.6 : 0)
      shared += weight * (value ? (hasValue(sentence, value) ? 1 : WITHOUT_VALUE * likeness) : likeness)
    }
    return shared / total + (mean ? cosine(mean, meanVector(words, said)) : 0)
  }
}

/** What the word for a value counts in a text without such a value: "the price is on the label" tells no price. */
const WITHOUT_VALUE = 0.7

/** Short stems must be whole words, because many words begin with them. */
const LONG_STEM = 4
const begins = (word: string, stem: string): boolean =>
  stem.length >= LONG_STEM ? word.startsWith(stem) : word === stem

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
