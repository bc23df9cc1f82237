import { guessLanguage, type Language } from '../languages/language.ts'
import { languageOfQuestion } from '../languages/language-of-question.ts'
import { splitWords } from '../words/words.ts'
import type { TalkLanguage } from './talk-words.ts'

const DEVANAGARI = /\p{sc=Devanagari}/gu
const LETTER = /\p{L}/gu
/** Letters of Ukrainian that Russian does not have. */
const UKRAINIAN = /[іїєґ]/iu
const LOOKED_AT = 4_000

/** Guesses the language of a text; null if there is too little evidence. */
export function guessTalkLanguage(text: string): TalkLanguage | null {
  const looked = text.slice(0, LOOKED_AT)
  const guessed = byLetters(looked) ?? guessLanguage(looked)
  return guessed === 'other' ? null : guessed
}

/** Returns the language of a question about documents in `written`. */
export function talkLanguageOfQuestion(question: string, written: Language): TalkLanguage | 'other' {
  const looked = question.slice(0, LOOKED_AT)
  return byLetters(looked) ?? languageOfQuestion(splitWords(looked), written)
}

function byLetters(text: string): TalkLanguage | null {
  const letters = text.match(LETTER)?.length ?? 0
  if ((text.match(DEVANAGARI)?.length ?? 0) * 2 > letters) return 'hi'
  return UKRAINIAN.test(text) ? 'uk' : null
}
