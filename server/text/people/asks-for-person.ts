import { LEXICONS, type Lexicon } from './person-words.ts'

const LONGEST = 400
const LONGEST_OFFER = 500
const LONGEST_YES = 8
const LONGEST_BARE = 5

/**
 * Returns whether a message asks for a person: explicitly, or with a yes if one was `offered` last. A refusal does
 * not count, and neither does a question about it ("How do I talk to …").
 */
export const asksForPerson = (message: string, asked: { offered: boolean }): boolean =>
  languageOfRequest(message, asked) !== null

/** Returns the language in which a message asks for a person; null when it does not. */
export function languageOfRequest(message: string, { offered }: { offered: boolean }): string | null {
  // Folding changes the length of a text a little, but a message as long as this is never a request.
  if (message.length > LONGEST * 4) return null
  const text = message
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[’‘`´]/g, "'")
    .trim()
  if (text === '' || text.length > LONGEST) return null
  const clauses = clausesOf(text)
  const found = LEXICONS.find(
    (lexicon) => (offered && accepts(clauses, lexicon)) || clauses.some((clause) => wants(clause, lexicon)),
  )
  return found?.language ?? null
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
