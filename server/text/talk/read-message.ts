import { isDense } from '../languages/dense-script.ts'
import { languagesOfStopWord } from '../languages/stop-words.ts'
import { splitWords } from '../words/words.ts'
import { foldTalk, type TalkKind, visitPhrases } from './compile-phrases.ts'
import { symbolsOf } from './read-symbols.ts'
import { TALK_WORDS } from './talk-table.ts'
import type { TalkLanguage } from './talk-words.ts'

/** What a customer's message is, by its words alone. */
export type Message = {
  /** A message that also asks something is a question, whatever is around it. */
  kind: TalkKind | 'question'
  /** The language of small talk; null for a question, and if neither the words nor the expectation tell it. */
  language: TalkLanguage | null
  /** False for a greeting with words that may be a name, as in "Hi Anna", or a subject, as in "Hello Fresh". */
  isSure: boolean
  /** The message without the small talk before and after its question. */
  question: string
}

/** Of several kinds in one message, the first of these is answered. */
const WEIGHT: readonly TalkKind[] = [
  'complaint',
  'identity',
  'help',
  'goodbye',
  'refusal',
  'thanks',
  'yes',
  'acknowledgement',
  'greeting',
]
/** The kinds that a question may directly follow without punctuation, as in "thanks but where is my order". */
const BEFORE_QUESTION: ReadonlySet<string> = new Set<TalkKind>(['greeting', 'thanks'])
const OK = /^(?:ok|okay|okey|oki)$/
/** The kinds that end a message, beside a question that was asked before. */
const AFTER_QUESTION: ReadonlySet<string> = new Set<TalkKind | 'beside'>([
  'greeting',
  'thanks',
  'goodbye',
  'yes',
  'acknowledgement',
  'help',
  'identity',
  'beside',
])
const BUT = new Set('but aber mais pero ma però mas maar men mutta ale но але ama fakat لكن'.split(' '))

/** The language of "ok" or "merci" if nothing else tells it is the first of these that knows it. */
const FIRST: readonly TalkLanguage[] = ['en', 'fr', 'de', 'es', 'it']
const LANGUAGES = [...new Set([...FIRST, ...(Object.keys(TALK_WORDS) as TalkLanguage[])])]
const DENSE: readonly TalkLanguage[] = ['ja', 'zh', 'ko']
const SCRIPTS: [RegExp, readonly TalkLanguage[]][] = [
  [/\p{sc=Cyrillic}/u, ['ru', 'uk']],
  [/\p{sc=Arabic}/u, ['ar']],
  [/\p{sc=Devanagari}/u, ['hi']],
]
const LATIN = LANGUAGES.filter((one) => ![...DENSE, ...SCRIPTS.flatMap(([, own]) => own)].includes(one))

/** A longer text, in characters, is searched as it is. */
const LONGEST = 16_000
/** The most clauses of small talk before a question, and the most words or, in a dense script, letters of each. */
const MOST_CLAUSES = 12
const MOST_WORDS = 16
const MOST_DENSE_LETTERS = 36
/** The most words of a name after a greeting, and of what thanks are for. */
const LONGEST_NAME = 2
const LONGEST_REASON = 5
/** The fewest words of a question that follows small talk without punctuation, or a greeting with a name. */
const SHORTEST_QUESTION = 2
const SHORTEST_AFTER_NAME = 3
/** The most words of small talk directly before a question. */
const LONGEST_BEFORE = 4
/** A signature has at most this many words. */
const LONGEST_SIGNATURE = 40

const CLAUSE = /[^.!?,;:…\n–—¿¡。！？，、；：।؟،؛\p{Extended_Pictographic}]+/gu
const MARKS = /^\s?[.!?。！？।؟…]+/u
const OPENING = /[¿¡]+$/u
const WORD = /[\p{L}\p{M}\p{N}]+/gu

/** A part of a message between two punctuation marks. `text` is as it was written, from `start` to `end`. */
type Clause = { text: string; start: number; end: number; words: string[] }
/**
 * What small talk is in one language. The same words may be something else in another. A clause such as "please" is
 * `beside` what the others are.
 */
type Reading = { language: TalkLanguage; kind: TalkKind | 'beside'; isSure: boolean }

/**
 * Says what a message is, and finds the question in it. Of several languages in which it would be small talk, the
 * first of the `expected` ones is chosen.
 */
export function readMessage(text: string, expected: readonly TalkLanguage[] = []): Message {
  const asks = (question: string): Message => ({ kind: 'question', language: null, isSure: true, question })
  if (text.length > LONGEST) return asks(text)
  const clauses = clausesOf(text)
  if (clauses.length === 0) {
    const kind = symbolsOf(text)
    return kind ? { kind, language: expected[0] ?? null, isSure: true, question: text } : asks(text)
  }
  const before = talkBefore(clauses)
  if (before.length < clauses.length) return asks(withoutTalk(text, clauses, before) || text)
  const { kind, language, isSure } = choose(readingsOfAll(before), expected)
  return kind === 'beside' ? asks(text) : { kind, language, isSure, question: text }
}

function clausesOf(text: string): Clause[] {
  return [...text.matchAll(CLAUSE)].flatMap(({ 0: whole, index }) => {
    const words = splitWords(foldTalk(whole))
    if (words.length === 0) return []
    const trimmed = whole.trim()
    const start = index + whole.length - whole.trimStart().length
    return [{ text: trimmed, start, end: start + trimmed.length, words }]
  })
}

/** Returns the readings of the clauses of small talk with which a message begins. */
function talkBefore(clauses: readonly Clause[]): Reading[][] {
  const before: Reading[][] = []
  for (const clause of clauses.slice(0, MOST_CLAUSES)) {
    const readings = readingsOf(clause)
    if (readings.length === 0) break
    before.push(readings)
  }
  return before
}

/** Combines the readings of clauses: in the languages of all of them, or else in those of the clause that has fewest. */
function readingsOfAll(clauses: readonly Reading[][]): Reading[] {
  const isSure = clauses.every((readings) => readings.every((one) => one.isSure))
  const combined = LANGUAGES.flatMap((language) => {
    const own = clauses.map((readings) => readings.find((one) => one.language === language))
    return own.every((one) => one !== undefined) ? [{ language, kind: heaviest(own), isSure }] : []
  })
  if (combined.length > 0) return combined
  const [told] = [...clauses].sort((a, b) => a.length - b.length)
  const kind = heaviest(clauses.map((readings) => readings[0]!))
  return told!.map(({ language }) => ({ language, kind, isSure }))
}

const heaviest = (readings: readonly { kind: TalkKind | 'beside' }[]): TalkKind | 'beside' =>
  WEIGHT.find((kind) => readings.some((one) => one.kind === kind)) ?? 'beside'

function choose(readings: readonly Reading[], expected: readonly TalkLanguage[]): Reading {
  for (const language of expected) {
    const found = readings.find((one) => one.language === language)
    if (found) return found
  }
  // Without a conversation before it, "Ciao" is rather a greeting than a goodbye.
  return readings.find(({ kind }) => kind === 'greeting') ?? readings[0]!
}

/** Returns the part of a text between the small talk at its beginning and at its end. */
function withoutTalk(text: string, clauses: readonly Clause[], before: readonly Reading[][]): string {
  // A name and a subject look alike, so they are only separated from a question that can stand alone.
  const isDoubtful = before.some((readings) => readings.some(({ isSure }) => !isSure))
  const rest = clauses.slice(before.length)
  const isTooShort =
    isDoubtful && rest.reduce((sum, { words }) => sum + words.length, 0) < SHORTEST_AFTER_NAME
  const asked = withoutSignature(text, isTooShort ? clauses : rest)
  while (asked.length > 1 && endsMessage(asked.at(-1)!)) asked.pop()
  const [first] = asked
  const { end } = asked.at(-1)!
  const from = first!.start + (isTooShort ? 0 : lengthOfTalk(first!))
  const opening = OPENING.exec(text.slice(0, from))?.[0].length ?? 0
  return text.slice(from - opening, end + (MARKS.exec(text.slice(end, end + 8))?.[0].length ?? 0))
}

const endsMessage = (clause: Clause): boolean => {
  const [first, ...others] = readingsOf(clause)
  return first !== undefined && [first, ...others].every(({ kind }) => AFTER_QUESTION.has(kind))
}

/** Leaves out a closing such as "Best regards" on a line of its own and what follows it. */
function withoutSignature(text: string, clauses: readonly Clause[]): Clause[] {
  let words = 0
  for (let at = clauses.length - 1; at > 0 && words <= LONGEST_SIGNATURE; at--) {
    const { start, end, words: own } = clauses[at]!
    words += own.length
    if (/^[?？؟]/.test(text.slice(end))) break
    const isAtLineStart = /\n\s*$/.test(text.slice(Math.max(0, start - 8), start))
    if (isAtLineStart && readingsOf(clauses[at]!).some(({ kind }) => kind === 'goodbye'))
      return clauses.slice(0, at)
  }
  return [...clauses]
}

/** Returns the length, in characters, of small talk that a question follows without punctuation. */
function lengthOfTalk({ text, words }: Clause): number {
  for (let count = Math.min(LONGEST_BEFORE, words.length - SHORTEST_QUESTION); count > 0; count--) {
    // "Good value" and "Hello Fresh" are subjects, while a question goes on with a common word.
    if (!languagesOfStopWord.has(words[count]!)) continue
    const before = words.slice(0, count)
    const isTalk =
      before.every((word) => OK.test(word)) ||
      readingsOfWords(before).some(({ kind }) => BEFORE_QUESTION.has(kind))
    if (!isTalk) continue
    const isContrast = BUT.has(words[count]!) && words.length - count > SHORTEST_QUESTION
    return [...text.matchAll(WORD)][isContrast ? count + 1 : count]?.index ?? 0
  }
  return 0
}

/** Returns what a clause is, by language, if it consists of small talk alone. */
function readingsOf({ text, words }: Clause): Reading[] {
  if (words.length > MOST_WORDS) return []
  const readings = readingsOfWords(words)
  if (readings.length > 0) return readings
  const thanks = thanksFor(words)
  return thanks.length > 0 ? thanks : greetingWithName(text, words)
}

/** "Thanks for the information": what thanks are for is no question. */
function thanksFor(words: readonly string[]): Reading[] {
  for (let count = Math.max(1, words.length - LONGEST_REASON - 1); count < words.length - 1; count++) {
    const thanks = readingsOfWords(words.slice(0, count)).filter(({ kind }) => kind === 'thanks')
    const reason = words.slice(count)
    const found = thanks.filter(({ language }) => beginsWithFor(language, reason.join(' ')))
    if (found.length > 0) return found
  }
  return []
}

function beginsWithFor(language: TalkLanguage, text: string): boolean {
  let begins = false
  visitPhrases(language, text, 0, (kind, end) => {
    if (kind === 'thanksFor' && isWordEnd(text, end)) begins = true
  })
  return begins
}

/** "Hi Anna": a greeting with one or two words that may be a name. */
function greetingWithName(text: string, words: readonly string[]): Reading[] {
  for (let length = 1; length <= LONGEST_NAME && length < words.length; length++) {
    const name = words.slice(-length)
    if (name.some((word) => languagesOfStopWord.has(word) || isDense(word))) return []
    const isName =
      length === 1 || (text.match(WORD) ?? []).slice(-length).every((word) => /^\p{Lu}/u.test(word))
    const greetings = readingsOfWords(words.slice(0, -length)).filter(({ kind }) => kind === 'greeting')
    if (isName && greetings.length > 0) return greetings.map((reading) => ({ ...reading, isSure: false }))
  }
  return []
}

/** Returns what words are in each language in which they are nothing but phrases of small talk. */
function readingsOfWords(words: readonly string[]): Reading[] {
  const dense = words.some(isDense)
  const text = words.join(dense ? '' : ' ')
  if (dense && text.length > MOST_DENSE_LETTERS) return []
  const languages = dense ? DENSE : (SCRIPTS.find(([script]) => script.test(text))?.[1] ?? LATIN)
  return languages.flatMap((language) => {
    const kinds = kindsIn(language, text, dense)
    return kinds ? [{ language, kind: heaviest(kinds.map((kind) => ({ kind }))), isSure: true }] : []
  })
}

const isWordEnd = (text: string, at: number): boolean =>
  at === text.length || text[at] === ' ' || text[at - 1] === ' '

/** Returns the kinds of the fewest phrases of a language that a text consists of; null if it says something else. */
function kindsIn(language: TalkLanguage, text: string, dense: boolean): TalkKind[] | null {
  const covers: ({ count: number; kinds: TalkKind[] } | undefined)[] = [{ count: 0, kinds: [] }]
  for (let start = 0; start < text.length; start++) {
    const cover = covers[start]
    if (!cover) continue
    visitPhrases(language, text, start, (kind, end) => {
      if (kind === 'thanksFor' || end === start || !(dense || isWordEnd(text, end))) return
      const count = cover.count + 1
      const next = text[end] === ' ' ? end + 1 : end
      if (count < (covers[next]?.count ?? Number.POSITIVE_INFINITY))
        covers[next] = { count, kinds: kind === 'beside' ? cover.kinds : [...cover.kinds, kind] }
    })
  }
  return covers[text.length]?.kinds ?? null
}
