import { guessLanguage, type Language } from '../languages/language.ts'
import { languageOfQuestion } from '../languages/language-of-question.ts'
import { splitWords } from '../words/words.ts'
import type { TalkLanguage } from './talk-words.ts'

const LOOKED_AT = 4_000
const WITHOUT_PHRASES: ReadonlySet<Language> = new Set(['other', 'bg', 'el', 'fa', 'he', 'hu', 'ro'])

/** Guesses the language of a text; null if there is too little evidence, or if the responder does not talk in it. */
export function guessTalkLanguage(text: string): TalkLanguage | null {
  return asTalkLanguage(guessLanguage(text.slice(0, LOOKED_AT)))
}

/**
 * Returns the language of a question about documents in `written`; `other` if the responder does not talk in it. `isSaid`
 * tells the words of the documents.
 */
export const talkLanguageOfQuestion = (
  question: string,
  written: Language,
  isSaid?: (word: string) => boolean,
): TalkLanguage | 'other' =>
  asTalkLanguage(languageOfQuestion(splitWords(question.slice(0, LOOKED_AT)), written, isSaid)) ?? 'other'

/** Returns null for a language in which the responder does not talk. */
export const asTalkLanguage = (language: Language): TalkLanguage | null =>
  WITHOUT_PHRASES.has(language) ? null : (language as TalkLanguage)
