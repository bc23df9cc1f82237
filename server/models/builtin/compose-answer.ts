import { weighLanguage } from '../../text/languages/language.ts'
import { talkLanguageOfQuestion } from '../../text/talk/talk-language.ts'
import type { TalkLanguage } from '../../text/talk/talk-words.ts'
import { foldAccents } from '../../text/words/fold-accents.ts'
import { visibleText } from '../../text/words/visible-text.ts'
import { splitWords, wordsOnly } from '../../text/words/words.ts'
import type { WordVectors } from '../static/word-vectors.ts'
import { asksHow } from './asks-how.ts'
import { pieceChooser } from './choose-piece.ts'
import { hasNumbers } from './has-numbers.ts'
import type { BuiltinInput, QuotablePassage } from './input.ts'
import { listGoesOn } from './list-goes-on.ts'
import type { Phrases } from './phrases/phrase-names.ts'
import { phrasesFor } from './phrases/phrases.ts'
import { hasSteps } from './pieces.ts'

export type ComposedAnswer = {
  band: 'answer' | 'closest' | 'decline' | 'greeting'
  text: string
  /** Indexes into the passages; `[1]` in the text refers to the first of them. */
  cited: number[]
  /** The probability (0 to 1) that the first passage shown is right. */
  score: number
}

/** The most characters of a question or a passage from which its language is guessed. */
const LONGEST_QUESTION = 4_000
/** The share of a text's words that tell its language in prose of most languages. */
const SURE_SHARE = 0.15
/** The lowest score at which a passage is quoted as the answer. */
export const ANSWER_FROM = 0.7
/** The lowest score at which passages are offered as the closest found. The responder declines below it. */
export const CLOSEST_FROM = 0.15
/** Up to this score, a second passage is quoted beside the first if it is nearly as likely. */
const UNSURE = 0.9
const NEARLY = 0.75
const MOST_CLOSEST = 3
/** The highest score of what is only offered, however likely the search took it for the answer. */
const MOST_UNSURE = 0.65
/** The number of first passages that are offered whatever source they are from. */
const SURELY_OFFERED = 2
/**
 * The length in characters up to which a piece is quoted with its neighbours. The paragraph that names the subject of
 * a question is often the one before its answer, and the first steps are read before the step that fits best.
 */
const ROOM = 900
/** The same for the passages after the first, which are less likely: only the piece itself is quoted. */
const NO_ROOM = 0
/** The same for all passages of a follow-up. The paragraph that fits best has often been quoted already, and the answer is near it. */
const ROOM_OF_FOLLOW_UP = 1_000
/** The share of the first passage's probability that another one needs to be offered beside it. */
const CLOSE = 0.05

/** Composes the built-in answer from whole pieces of the passages and fixed phrases, and nothing else. */
export function composeAnswer(input: BuiltinInput, words: WordVectors): ComposedAnswer {
  const { question, confidence, passages } = input
  const stored = storedAnswer(input)
  if (stored !== null) {
    const text = `${passages[stored]!.text.trim()} [1]`
    return { band: 'answer', text, cited: [stored], score: confidence }
  }
  const language = languageOfInput(input)
  const phrases = phrasesFor(language)
  const choosePiece = pieceChooser(question, input.about, language, words)
  const choose =
    (isSure: boolean): Choose =>
    (passage, room) => {
      const chosen = choosePiece(passage, room, isSure)
      return chosen?.goesOn
        ? `${chosen.text}

${listGoesOn(language)}`
        : (chosen?.text ?? null)
    }
  if (confidence >= ANSWER_FROM) {
    const two = confidence < UNSURE && (passages[1]?.score ?? 0) >= confidence * NEARLY
    const quotes = two
      ? quotesOf(passages.slice(0, 2), choose(true), ROOM, NO_ROOM)
      : quoteOf(passages, stepsFor(input), choose(true), ROOM)
    if (quotes.length > 0 && haveNumbers(question, quotes, passages)) {
      const text = quotes
        .map(({ text: quote, passage }, i) => marked(underTellingHeading(quote, passages[passage]!), i + 1))
        .join('\n\n')
      return { band: 'answer', text, cited: quotes.map(({ passage }) => passage), score: confidence }
    }
  }
  if (confidence >= CLOSEST_FROM) {
    const isFollowUp = input.about !== undefined && input.about !== question
    const near = closestOf(input, isFollowUp)
    const quotes = isFollowUp
      ? quotesOf(near, choose(false), ROOM_OF_FOLLOW_UP)
      : quotesOf(near, choose(false), ROOM, NO_ROOM)
    const text = [
      phrases.closest,
      ...quotes.map(({ text: quote, passage }, i) => marked(underHeading(quote, passages[passage]!), i + 1)),
    ].join('\n\n')
    if (quotes.length > 0)
      return {
        band: 'closest',
        text: withPerson(text, input, phrases),
        cited: quotes.map(({ passage }) => passage),
        score: Math.min(confidence, MOST_UNSURE),
      }
  }
  return { band: 'decline', text: declined(input, phrases), cited: [], score: confidence }
}

/** Appends how to ask for a person, unless there is none or the previous answer has just said so. */
export const withPerson = (
  text: string,
  { mayOffer = true, before = '' }: BuiltinInput,
  { sayPerson }: Phrases,
): string => (mayOffer && !before.endsWith(sayPerson) ? `${text}\n\n${sayPerson}` : text)

/** Says that there is no answer, and what the customer can do next. */
function declined({ documents, mayOffer = true }: BuiltinInput, phrases: Phrases): string {
  const isEmpty = documents?.areEmpty === true
  const without = isEmpty ? phrases.unknown : phrases.decline
  if (mayOffer) return sentences(without, phrases.offer)
  return isEmpty ? without : withSubjects(sentences(without, phrases.rephrase), documents?.subjects, phrases)
}

/** Joins two sentences. */
export const sentences = (first: string, second: string): string =>
  first.endsWith('。') ? first + second : `${first} ${second}`

/** Appends a list of what the documents are about. */
export const withSubjects = (text: string, subjects: readonly string[] = [], { topics }: Phrases): string =>
  subjects.length < 2 ? text : [text, '', topics, ...subjects.map((subject) => `- ${subject}`)].join('\n')

/**
 * Returns the passages to offer. The third one is often about something else, unless it is from the same source as the
 * first.
 */
function closestOf({ confidence, passages }: BuiltinInput, isFollowUp: boolean): QuotablePassage[] {
  return passages
    .slice(0, MOST_CLOSEST)
    .filter(
      ({ score, sourceId }, place) =>
        score >= confidence * CLOSE &&
        (isFollowUp || place < SURELY_OFFERED || sourceId === passages[0]!.sourceId),
    )
}

/**
 * Returns the index of the passage to quote as the answer: the first one or, for a question about how to do
 * something, the likeliest with steps or code in the same section if the first has neither.
 */
function stepsFor({ question, passages }: BuiltinInput): number {
  const [first] = passages
  if (!first || hasSteps(first.text) || !asksHow(splitWords(question.slice(0, LONGEST_QUESTION)))) return 0
  const section = JSON.stringify([first.sourceId, first.headingPath])
  const steps = passages.findIndex(
    ({ sourceId, headingPath, text, score }) =>
      score >= first.score * NEARLY && JSON.stringify([sourceId, headingPath]) === section && hasSteps(text),
  )
  return Math.max(steps, 0)
}

/** Returns the index of the passage that is stored as the answer to just this question; -1 if there is none. */
function equalQuestion({ question, passages }: BuiltinInput): number {
  const asked = wordsOnly(question.slice(0, LONGEST_QUESTION))
  if (asked === '') return -1
  return passages.findIndex((passage) => passage.questions?.some((stored) => wordsOnly(stored) === asked))
}

/** Returns whether a passage is the answer to just this question: a stored one, or a section with this heading. */
export function hasQuestion(input: BuiltinInput): boolean {
  const asked = wordsOnly(input.question.slice(0, LONGEST_QUESTION))
  const heading = input.passages[0]?.headingPath.at(-1) ?? ''
  return equalQuestion(input) >= 0 || (asked.includes(' ') && wordsOnly(heading) === asked)
}

/** Returns the first passage if it is a stored answer to the question; otherwise null. */
function storedAnswer(input: BuiltinInput): number | null {
  const { confidence, passages } = input
  const equal = equalQuestion(input)
  if (equal >= 0) return equal
  return confidence >= ANSWER_FROM && passages[0]?.questions?.length ? 0 : null
}

/** Returns the language of a question. If its words leave it open, it is that of the conversation or of the documents. */
export function languageOfInput({
  question,
  passages,
  message,
  documents,
}: BuiltinInput): TalkLanguage | 'other' {
  const text = passages
    .slice(0, MOST_CLOSEST)
    .map(({ text, headingPath }) => [...headingPath, visibleText(text.slice(0, LONGEST_QUESTION))].join(' '))
    .join(' ')
  const words = splitWords(text)
  const { language: quoted, share } = weighLanguage(words)
  const known = documents?.language ?? 'other'
  // The rows of a table have few words that tell their language, and those of a Japanese one may be without kana.
  const isUnsure = quoted === 'other' || share < SURE_SHARE || (quoted === 'zh' && known === 'ja')
  const written = isUnsure && known !== 'other' ? known : quoted
  const spoken = message?.language ?? null
  const said = new Set(words.map(foldAccents))
  return talkLanguageOfQuestion(question, spoken ?? written, (word) => said.has(foldAccents(word)))
}

type Choose = (passage: QuotablePassage, room: number) => string | null
type Quote = { passage: number; text: string }

/**
 * Returns the quote from each passage; a quote that another one contains is left out. `roomOfOthers` is the room for the
 * passages after the first.
 */
function quotesOf(
  passages: readonly QuotablePassage[],
  choose: Choose,
  room: number,
  roomOfOthers = room,
): Quote[] {
  const quotes: Quote[] = []
  for (const [passage, one] of passages.entries()) {
    const text = one.questions?.length ? one.text.trim() : choose(one, passage === 0 ? room : roomOfOthers)
    if (text && !quotes.some((other) => other.text.includes(text))) quotes.push({ passage, text })
  }
  return quotes
}

/** Returns the quote from one passage as a list. */
function quoteOf(passages: readonly QuotablePassage[], index: number, choose: Choose, room: number): Quote[] {
  return quotesOf(passages.slice(index, index + 1), choose, room).map((quote) => ({
    ...quote,
    passage: index,
  }))
}

/** Appends the citation marker. After code and tables it is on a line of its own, because it is not part of them. */
function marked(quote: string, number: number): string {
  return quote.endsWith('```') || (quote.endsWith('|') && quote.includes('| - |'))
    ? `${quote}\n\n[${number}]`
    : `${quote} [${number}]`
}

/** Puts the passage's heading above its quote. Among several passages, the headings tell what each is about. */
function underHeading(quote: string, { headingPath }: QuotablePassage): string {
  const heading = headingPath.at(-1)?.replace(/[*_`]/g, '')
  return heading ? `**${heading}**\n\n${quote}` : quote
}

/**
 * Returns whether the quotes, with their headings and the names of their documents, have every number of the question.
 * A quote about another model, for example, lacks the number in the model's name.
 */
function haveNumbers(
  question: string,
  quotes: readonly Quote[],
  passages: readonly QuotablePassage[],
): boolean {
  const told = quotes.map(({ text, passage }) => {
    const { headingPath, sourceName } = passages[passage]!
    return [text, sourceName ?? '', ...headingPath].join('\n')
  })
  return hasNumbers(told.join('\n'), question.slice(0, LONGEST_QUESTION))
}

const SECTION_NUMBER = /^\s*(?:§\s*)?\d+(?:\.\d+)*[.)]?\s+/
const NUMBER = /\p{N}[\p{N}.,:]*/gu

/** Does so only if the heading has a number that the quote lacks, such as a price. */
function underTellingHeading(quote: string, passage: QuotablePassage): string {
  const numbers = passage.headingPath.at(-1)?.replace(SECTION_NUMBER, '').match(NUMBER) ?? []
  return numbers.some((number) => !quote.includes(number)) ? underHeading(quote, passage) : quote
}
