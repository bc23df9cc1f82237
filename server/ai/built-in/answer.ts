import {
  CUSTOMER_SENTENCES,
  type CustomerLanguage,
} from '../../platform/text/languages/customer-sentences.ts'
import { withTables } from '../../platform/text/rows/named-rows.ts'
import { wordsOnly } from '../../platform/text/words/words.ts'
import type { BuiltinInput, QuotablePassage } from './input.ts'

export type Answer = {
  text: string
  /** Indexes into the passages; `[1]` in the text refers to the first of them. */
  cited: number[]
  outcome: 'answered' | 'not_found' | 'handed_over' | null
  /** Whom the answer offers to the customer. */
  offer?: 'person'
}

const MAX_QUOTED = 3
/** A longer message that says nothing of the documents is a question about something else. */
const MAX_GREETING_LENGTH = 4
/** The most characters of a question that are compared with stored ones. */
const MAX_QUESTION_LENGTH = 4_000

/** Answers like a search box: it quotes what was found whole, or says in one sentence why nothing is quoted. */
export function answer(input: BuiltinInput): Answer {
  const { question, passages, isFound, isIndexing, hasKnownWord, areEmpty, language } = input
  const said = CUSTOMER_SENTENCES[language]
  const asked = wordsOnly(question.slice(0, MAX_QUESTION_LENGTH))
  const at = passages.findIndex(({ questions = [] }) => questions.some((one) => wordsOnly(one) === asked))
  const stored = passages[at]
  if (asked !== '' && stored) return { text: marked(stored.text, 1), cited: [at], outcome: 'answered' }
  if (isFound && passages.length > 0) {
    const quoted = passages.slice(0, MAX_QUOTED)
    const text = [said.found, ...quoted.map(quote)].join('\n\n')
    return { text, cited: [...quoted.keys()], outcome: 'answered' }
  }
  if (areEmpty) return nothing(said.noDocuments, input)
  if (isIndexing) return { text: said.stillIndexing, cited: [], outcome: null }
  if (!hasKnownWord && countWords(question) <= MAX_GREETING_LENGTH)
    return { text: said.hello, cited: [], outcome: null }
  return nothing(said.notFound, input)
}

function nothing(sentence: string, { mayOffer, language }: BuiltinInput): Answer {
  if (!mayOffer) return { text: sentence, cited: [], outcome: 'not_found' }
  const { offer } = CUSTOMER_SENTENCES[language]
  return { text: `${sentence} ${offer}`, cited: [], outcome: 'not_found', offer: 'person' }
}

function quote({ headingPath, questions, text }: QuotablePassage, place: number): string {
  const heading = (questions?.[0] ?? headingPath.at(-1) ?? '').replace(/[*_`\n]/g, '').trim()
  const body = marked(text, place + 1)
  return heading === '' ? body : `**${heading}**\n\n${body}`
}

/** Appends the marker, after code and tables on a line of its own, because it is not part of them. */
function marked(text: string, number: number): string {
  const whole = withTables(text.trim())
  return /(?:```|\|)$/.test(whole) ? `${whole}\n\n[${number}]` : `${whole} [${number}]`
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

/** Counts the words of the beginning of a text, in scripts without spaces, too. */
const countWords = (text: string): number =>
  [...segmenter.segment(text.slice(0, 400))].filter(({ isWordLike }) => isWordLike).length

/**
 * Returns the answer after a call of the escalation action, whose result is `output`. `unfound` is the answer that nothing
 * was found, if that is why the action was called; null if the customer asked for a person.
 */
export function handedOver(language: CustomerLanguage, output: unknown, unfound: Answer | null): Answer {
  const { passedOn, teamTold, backAt, unreachable } = CUSTOMER_SENTENCES[language]
  const { status, data } = (output ?? {}) as {
    status?: string
    data?: { opensAt?: string | null; timeZone?: string | null }
  }
  if (unfound) return { ...unfound, text: `${unfound.text} ${status === 'success' ? teamTold : unreachable}` }
  if (status !== 'success') return { text: unreachable, cited: [], outcome: null }
  if (!data?.opensAt) return { text: passedOn, cited: [], outcome: 'handed_over' }
  const time = new Intl.DateTimeFormat(language, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    hour: 'numeric',
    minute: '2-digit',
    timeZoneName: 'short',
    timeZone: data.timeZone ?? 'UTC',
  }).format(new Date(data.opensAt))
  return { text: `${passedOn} ${backAt.replace('{time}', time)}`, cited: [], outcome: 'handed_over' }
}
