import { splitWords } from '../words/words.ts'
import { danishOrNorwegian } from './danish-or-norwegian.ts'
import { type Language, languagesOfStopWord } from './stop-words.ts'

export type { Language }

const WORDS_LOOKED_AT = 200

/** Letters that occur in no other of the languages, or in few of them. */
const LETTERS: [RegExp, readonly Language[]][] = [
  [/ß/, ['de']],
  [/ä/, ['de', 'sv', 'fi']],
  [/ö/, ['de', 'sv', 'fi', 'tr']],
  [/ü/, ['de', 'tr']],
  [/ñ/, ['es']],
  [/[ãõ]/, ['pt']],
  [/[çèêùœ]/, ['fr']],
  [/[łąęśżź]/, ['pl']],
  [/[řůě]/, ['cs']],
  [/[ğış]/, ['tr']],
  [/[æø]/, ['da', 'no']],
  [/å/, ['sv', 'da', 'no']],
]
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII begins with them
const NOT_ASCII = /[^\x00-\x7f]/
const NOT_LATIN = /[^\p{scx=Latin}\p{N}\p{M}]/u
const SCRIPTS: [RegExp, Language][] = [
  [/[\p{sc=Hiragana}\p{sc=Katakana}]/gu, 'ja'],
  [/\p{sc=Hangul}/gu, 'ko'],
  [/\p{sc=Han}/gu, 'zh'],
  [/\p{sc=Cyrillic}/gu, 'ru'],
  [/\p{sc=Arabic}/gu, 'ar'],
]

/** Guesses the language of a text by its script and stop words. Returns `other` if there is too little evidence. */
export function guessLanguage(text: string): Language {
  return guessLanguageOfWords(splitWords(text.slice(0, WORDS_LOOKED_AT * 12)))
}

/**
 * Does the same for words that are already split and folded. If `among` is given, only these languages are
 * considered.
 */
export function guessLanguageOfWords(words: readonly string[], among?: ReadonlySet<Language>): Language {
  return weighLanguage(words, among).language
}

/** Does the same, and also returns the share (0 to 1) of the words that indicate the language. */
export function weighLanguage(
  words: readonly string[],
  among?: ReadonlySet<Language>,
): { language: Language; share: number } {
  const looked = words.length > WORDS_LOOKED_AT ? words.slice(0, WORDS_LOOKED_AT) : words
  const byScript = languageOfScript(looked)
  if (byScript) return { language: byScript, share: 1 }
  const votes = new Map<Language, number>()
  const vote = (languages: readonly Language[], weight: number): void => {
    const known = among ? languages.filter((language) => among.has(language)) : languages
    for (const language of known)
      votes.set(language, (votes.get(language) ?? 0) + weight / Math.sqrt(languages.length))
  }
  for (const word of looked) {
    const languages = languagesOfStopWord.get(word)
    if (languages) vote(languages, 1)
    else if (NOT_ASCII.test(word))
      for (const [letters, own] of LETTERS) if (letters.test(word)) vote(own, 0.5)
  }
  const [first, second] = [...votes].sort((a, b) => b[1] - a[1])
  const unsure = { language: 'other', share: 0 } as const
  if (!first) return unsure
  const isTie = first[1] <= (second?.[1] ?? 0) * 1.02
  // Danish and Norwegian share most of their short words, and readers understand both.
  if (isTie && !(isScandinavian(first[0]) && isScandinavian(second![0]))) return unsure
  const share = first[1] / looked.length
  // A long text with hardly any stop words of a language is in another language that shares some words.
  if (first[1] < 0.5 || share < 0.06) return unsure
  const [best] = first
  return { language: best === 'da' || best === 'no' ? danishOrNorwegian(looked, best) : best, share }
}

/** The share that an expected language needs, relative to the language that most words indicate. */
const NEARLY = 0.65

/**
 * Does the same when some languages are expected: a few words that several languages share do not indicate another
 * one.
 */
export function weighExpected(
  words: readonly string[],
  expected: ReadonlySet<Language>,
): { language: Language; share: number } {
  const told = weighLanguage(words)
  if (told.language === 'other' || expected.has(told.language)) return told
  const near = weighLanguage(words, expected)
  return near.share >= told.share * NEARLY ? near : told
}

const isScandinavian = (language: Language): boolean => language === 'da' || language === 'no'

/**
 * Returns the language of the script that most letters belong to; null for the Latin script, which many languages
 * share.
 */
function languageOfScript(words: readonly string[]): Language | null {
  if (!words.some((word) => NOT_LATIN.test(word))) return null
  const text = words.slice(0, WORDS_LOOKED_AT).join(' ').slice(0, 2_000)
  const counts = SCRIPTS.map(([script]) => text.match(script)?.length ?? 0)
  const all = text.match(/\p{L}/gu)?.length ?? 0
  const [kana = 0, , han = 0] = counts
  // Chinese characters also occur in Japanese texts. A word in another script has more letters for the same meaning.
  if ((kana + han) * 3 > all && kana * 20 > han) return 'ja'
  const best = Math.max(...counts)
  return best * 3 > all ? SCRIPTS[counts.indexOf(best)]![1] : null
}
