import type { Language } from '../languages/stop-words.ts'

/** The languages in which the responder talks. It recognises more, for which it has no phrases. */
export type TalkLanguage = Exclude<Language, 'other' | 'bg' | 'el' | 'fa' | 'he' | 'hu' | 'ro'>

/**
 * What people write around their questions, in one language. Alternatives are separated by `|`; braces hold the
 * alternatives of a part, so that `not {really |}helpful` is two phrases. Upper case, accents and punctuation do not
 * count. A message is small talk only if it consists of such phrases from beginning to end.
 */
export type TalkWords = {
  greeting: string
  thanks: string
  goodbye: string
  yes: string
  acknowledgement: string
  refusal: string
  /** The wish to ask something, without the question. */
  help: string
  /** Questions about the responder itself. */
  identity: string
  /** Dissatisfaction with the answer or the responder, never with a product. */
  complaint: string
  /** Words that may accompany any of these and say nothing alone. */
  beside: string
  /** The words after thanks that begin what they are for: "thanks for …". */
  thanksFor: string
  /** What to search for when somebody wants to reach a person. */
  contact: string
}

/** Phrases that people write in every language. */
export const EVERYWHERE = {
  greeting: 'hi|hey|heyy',
  thanks: 'thx|thanx|tks',
  goodbye: 'bye|bye bye',
  acknowledgement: 'ok|okay|okey|oki|okidoki|k|kk|super|top|haha|hahaha|hehe|lol|cool|sorry|oops|wow|perfect',
} as const
