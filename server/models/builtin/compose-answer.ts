import { guessLanguage } from '../../text/language.ts'
import { wordsOnly } from '../../text/words.ts'
import type { WordVectors } from '../static/word-vectors.ts'
import { chooseSentences, type Quote } from './choose-sentences.ts'
import type { BuiltinInput } from './input.ts'
import { type Phrases, phrasesFor } from './phrases.ts'
import { smallTalkOf } from './small-talk.ts'

export type ComposedAnswer = {
  band: 'answer' | 'closest' | 'decline' | 'greeting'
  text: string
  /** Indexes into the passages; `[1]` in the text is the first of them. */
  cited: number[]
  /** 0..1: how likely the text answers the question. */
  score: number
}

/** From here on the passages are quoted as the answer. */
export const ANSWER_FROM = 0.7
/** From here on they are offered as the closest found; below, the responder declines. */
export const CLOSEST_FROM = 0.5

/** The built-in answer: nothing but sentences of the passages within fixed phrases. */
export function composeAnswer(input: BuiltinInput, words: WordVectors): ComposedAnswer {
  const { question, confidence, passages } = input
  const stored = storedAnswer(input)
  if (stored !== null) {
    const text = `${passages[stored]!.text.trim()} [1]`
    return { band: 'answer', text, cited: [stored], score: confidence }
  }

  const smallTalk = smallTalkOf(question)
  if (smallTalk) {
    return { band: 'greeting', text: phrasesFor(smallTalk.language)[smallTalk.kind], cited: [], score: 1 }
  }
  const phrases = phrasesFor(languageOf(input))
  if (confidence >= ANSWER_FROM) {
    const quotes = chooseSentences(input, words, {
      passages: 3,
      sentences: 3,
      fewest: 2,
      share: 0.65,
      passageShare: 0.93,
    })
    const cited = citedBy(quotes)
    if (cited.length > 0) return { band: 'answer', text: paragraphs(quotes, cited), cited, score: confidence }
  }
  if (confidence >= CLOSEST_FROM) {
    const quotes = chooseSentences(input, words, {
      passages: 3,
      sentences: 3,
      fewest: 1,
      share: 0.6,
      passageShare: 0.5,
    })
    const cited = citedBy(quotes)
    const text = `${phrases.closest}\n\n${list(quotes, cited, phrases)}`
    if (cited.length > 0) return { band: 'closest', text, cited, score: confidence }
  }
  return { band: 'decline', text: phrases.decline, cited: [], score: confidence }
}

/** The first passage, when it is a stored answer that the question asks for; else null. */
function storedAnswer({ question, confidence, passages }: BuiltinInput): number | null {
  const asked = wordsOnly(question)
  const equal = passages.findIndex((passage) =>
    passage.questions?.some((stored) => wordsOnly(stored) === asked),
  )
  if (asked !== '' && equal >= 0) return equal
  return confidence >= ANSWER_FROM && passages[0]?.questions?.length ? 0 : null
}

function languageOf({ question, passages }: BuiltinInput): 'en' | 'de' | 'other' {
  const asked = guessLanguage(question)
  return asked === 'other' && passages[0] ? guessLanguage(passages[0].text) : asked
}

function citedBy(quotes: readonly Quote[]): number[] {
  return [...new Set(quotes.map((quote) => quote.passage))]
}

function paragraphs(quotes: readonly Quote[], cited: readonly number[]): string {
  return cited.map((passage, i) => `${joined(quotes, passage)} [${i + 1}]`).join('\n\n')
}

function list(quotes: readonly Quote[], cited: readonly number[], phrases: Phrases): string {
  return cited.map((passage, i) => `- ${phrases.quote(joined(quotes, passage))} [${i + 1}]`).join('\n')
}

function joined(quotes: readonly Quote[], passage: number): string {
  return quotes
    .filter((quote) => quote.passage === passage)
    .map((quote) => quote.text)
    .join(' ')
}
