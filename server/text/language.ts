import { isStopWordOnlyOf } from './stop-words.ts'
import { splitWords } from './words.ts'

export type Language = 'en' | 'de' | 'other'

const WORDS_LOOKED_AT = 200

/** Guesses the language of a text by its stop words; `other` when there is nothing to go by. */
export function guessLanguage(text: string): Language {
  return guessLanguageOfWords(splitWords(text.slice(0, WORDS_LOOKED_AT * 12)))
}

/** The same for words already split and folded. */
export function guessLanguageOfWords(words: readonly string[]): Language {
  const looked = words.length > WORDS_LOOKED_AT ? words.slice(0, WORDS_LOOKED_AT) : words
  let english = 0
  let german = 0
  for (const word of looked) {
    if (isStopWordOnlyOf(word, 'en')) english++
    else if (isStopWordOnlyOf(word, 'de')) german++
    else if (/[äöüß]/.test(word)) german += 0.5
  }
  if (english === german) return 'other'
  const best = Math.max(english, german)
  // A long text with hardly any stop word of either is in a third language that shares some words.
  if (best < 0.5 || best / looked.length < 0.06) return 'other'
  return english > german ? 'en' : 'de'
}
