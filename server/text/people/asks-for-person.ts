import type { TalkLanguage } from '../talk/talk-words.ts'
import type { Lexicon } from './lexicon.ts'
import { LEXICONS } from './person-words.ts'

/** Longer texts, such as mails, only ask for a person in plain words, as in "please have somebody call me". */
const LONGEST = 400
const LONGEST_MAIL = 8_000
const LONGEST_OFFER = 500
const LONGEST_YES = 8
const LONGEST_BARE = 5
/** The most words of a clause in a mail that asks for a person. */
const LONGEST_REQUEST = 20

/**
 * Returns whether a message asks for a person: explicitly, or with a yes if one was `offered` last. A refusal does
 * not count, and neither does a question about it ("How do I talk to …").
 */
export const asksForPerson = (message: string, asked: { offered: boolean }): boolean =>
  languagesOfRequest(message, asked).length > 0

/** Returns the languages in which a message asks for a person; none when it does not. */
export function languagesOfRequest(message: string, { offered }: { offered: boolean }): TalkLanguage[] {
  const text = message
    .slice(0, LONGEST_MAIL)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[’‘`´ʼ]/g, "'")
    .trim()
  if (text === '') return []
  const clauses = clausesOf(text)
  const isMail = text.length > LONGEST
  return LEXICONS.filter(
    (lexicon) =>
      (offered && !isMail && accepts(clauses, lexicon)) ||
      clauses.some((clause) => (isMail ? urges(clause, lexicon) : wants(clause, lexicon))),
  ).map(({ language }) => language)
}

/** Returns whether a text ends by offering a person. */
export function offersPerson(text: string): boolean {
  const end = text.slice(-LONGEST_OFFER).toLowerCase().trim()
  const last = /[^.!?。！？\n]*[?？؟;]$/.exec(end)?.[0]
  return last !== undefined && LEXICONS.some(({ person }) => person.test(last))
}

function clausesOf(text: string): string[] {
  return text
    .split(
      /[.!;:,\n—–。，、！；،]+|\s-\s|\s(?:but|aber|sondern|mais|pero|sino|mas|ma|maar|ale|но|а|ama|fakat|لكن)\s/,
    )
    .flatMap((clause) => clause.split(/(?<=[?？؟])/))
    .map((clause) => clause.trim())
    .filter((clause) => clause !== '')
}

/** A clause of a mail must name both the wish and the way to get in touch, because a mail says much else. */
const urges = (clause: string, lexicon: Lexicon): boolean =>
  wordsOf(clause).length <= LONGEST_REQUEST &&
  lexicon.talk.test(clause) &&
  lexicon.want.test(clause) &&
  wants(clause, lexicon)

function wants(
  clause: string,
  { talk, want, person, human, not, about, bare, negatesLast }: Lexicon,
): boolean {
  const named = person.exec(clause)
  if (!named || about.test(clause)) return false
  const words = wordsOf(clause)
  const asked = talk.exec(clause)
  const refused = not.exec(clause)
  if (refused && (negatesLast || refused.index < Math.max(asked?.index ?? 0, named.index))) return false
  if (asked) return true
  if (!human.test(clause)) return false
  if (want.test(clause) && words.length <= 9) return true
  return words.length <= LONGEST_BARE && clause.replace(person, ' ').replace(bare, ' ').trim() === ''
}

/** The message says nothing but yes, apart from politeness. */
function accepts(clauses: string[], { yes, not }: Lexicon): boolean {
  const whole = clauses.join(' ')
  const said = yes.exec(whole)
  return said !== null && said.index < 12 && wordsOf(whole).length <= LONGEST_YES && !not.test(whole)
}

const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}']+/gu) ?? []
