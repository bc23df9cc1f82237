import { wordsOnly } from '../../text/words.ts'

export type SmallTalk = { kind: 'hello' | 'thanks' | 'goodbye'; language: 'en' | 'de' | 'other' }

const GERMAN_HELLO =
  /^(hallo|guten (tag|morgen|abend)|moin|servus|grüß (gott|dich)|grüezi)( zusammen| ihr| du)?$/
const ENGLISH_HELLO =
  /^(hi|hello|hey|hiya|greetings|good (morning|afternoon|evening|day))( there| everyone| all| team)?$/
const GERMAN_THANKS =
  /^(ok |okay |super |alles klar )?(danke|vielen dank|dankeschön|besten dank|danke (schön|sehr|dir|ihnen))$/
const ENGLISH_THANKS =
  /^(ok |okay |great |perfect |cool )?(thanks|thx|ty|cheers|thank you|many thanks)( so much| very much| a lot| for (the|your) help)?$/
const GERMAN_GOODBYE = /^(tschüss|tschüß|auf wiedersehen|bis bald|ciao)$/
const ENGLISH_GOODBYE = /^(bye|goodbye|bye bye|see you|good night)$/

const KINDS: [RegExp, SmallTalk][] = [
  [ENGLISH_HELLO, { kind: 'hello', language: 'en' }],
  [GERMAN_HELLO, { kind: 'hello', language: 'de' }],
  [ENGLISH_THANKS, { kind: 'thanks', language: 'en' }],
  [GERMAN_THANKS, { kind: 'thanks', language: 'de' }],
  [ENGLISH_GOODBYE, { kind: 'goodbye', language: 'en' }],
  [GERMAN_GOODBYE, { kind: 'goodbye', language: 'de' }],
]

/** What a message is when it is nothing but a greeting, thanks or a goodbye; null when it says more. */
export function smallTalkOf(message: string): SmallTalk | null {
  if (message.length > 80) return null
  const words = wordsOnly(message)
  return KINDS.find(([pattern]) => pattern.test(words))?.[1] ?? null
}
