import type { Language } from '../../../text/languages/language.ts'
import { asTalkLanguage } from '../../../text/talk/talk-language.ts'
import type { TalkLanguage } from '../../../text/talk/talk-words.ts'
import { EASTERN_PHRASES } from './eastern-phrases.ts'
import { NORTHERN_PHRASES } from './northern-phrases.ts'
import type { Phrases } from './phrase-names.ts'
import { WESTERN_PHRASES } from './western-phrases.ts'

const PHRASES: Record<TalkLanguage, Phrases> = {
  ...WESTERN_PHRASES,
  ...NORTHERN_PHRASES,
  ...EASTERN_PHRASES,
}

/** Returns the phrases in a language; the English ones for a language without its own. */
export const phrasesFor = (language: Language): Phrases => PHRASES[asTalkLanguage(language) ?? 'en']

const ALL = Object.entries(PHRASES) as [TalkLanguage, Phrases][]

/** Returns the language of an answer that ends with one of these phrases; null if it does not. */
export const languageEndingWith = (
  answer: string,
  phrase: 'offer' | 'thanks' | 'hello' | 'sayPerson',
): TalkLanguage | null => ALL.find(([, phrases]) => answer.trimEnd().endsWith(phrases[phrase]))?.[0] ?? null

/** Returns whether an answer introduces passages that may not answer the question. */
export const isClosest = (answer: string): boolean =>
  ALL.some(([, { closest }]) => answer.startsWith(closest))

/** Returns whether an answer says nothing but that there is none. */
export const isRefusal = (answer: string): boolean =>
  ALL.some(([, { decline, unknown }]) => answer.startsWith(decline) || answer === unknown)
