import {
  createStemmer,
  densePairs,
  guessLanguage,
  isDense,
  isStopWord,
} from '../../platform/text/languages/language.ts'
import { splitWords, visibleText } from '../../platform/text/words/words.ts'

/** The share of an expected answer's words that a passage must contain, because people word it differently. */
const SHARE = 0.7

/** Returns a function that tells whether a passage contains an answer: most of its words, in any form. */
export function answerFinder(answer: string): (passage: string) => boolean {
  const language = guessLanguage(answer)
  const stem = createStemmer(5_000)
  const termsOf = (text: string): string[] =>
    splitWords(visibleText(text))
      .filter((word) => !isStopWord(word, language))
      .flatMap((word) => (isDense(word) ? densePairs(word) : [stem(word, language)]))
  const wanted = new Set(termsOf(answer))
  return (passage) => {
    const said = new Set(termsOf(passage))
    return wanted.size > 0 && [...wanted].filter((term) => said.has(term)).length >= SHARE * wanted.size
  }
}
