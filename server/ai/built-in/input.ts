import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { CustomerLanguage } from '../../platform/text/languages/customer-sentences.ts'

/** A passage the responder may quote; the fields are those of a search result. */
export type QuotablePassage = {
  headingPath: string[]
  text: string
  /** The questions of a question-and-answer source, to each of which `text` is the answer. */
  questions?: string[]
}

/**
 * The call of the escalation action: instead of an answer for a customer who asked for a person, or only when nothing is
 * found.
 */
export type Handover = {
  tool: string
  input: { subject: string; summary: string }
  when: 'asked' | 'not_found'
}

/** The input of the responder, which a call passes in `providerOptions.parley`: what was asked, and the search's result. */
export type BuiltinInput = {
  question: string
  /** The language of the responder's own sentences. */
  language: CustomerLanguage
  /** Best first. */
  passages: QuotablePassage[]
  isFound: boolean
  isIndexing: boolean
  hasKnownWord: boolean
  /** Whether the agent has nothing to search. */
  areEmpty: boolean
  /** Whether there is somebody whom the customer may ask instead. */
  mayOffer: boolean
  /** What to call instead of answering or offering. */
  handover?: Handover | null
}

/** Returns the input of a call; without one, the last user message and nothing to quote. */
export function inputOfCall({ prompt, providerOptions }: LanguageModelV4CallOptions): BuiltinInput {
  const given: Partial<BuiltinInput> | undefined = providerOptions?.parley
  if (given && (typeof given.question !== 'string' || !Array.isArray(given.passages)))
    throw new TypeError('providerOptions.parley must hold question (string) and passages (array)')
  return {
    question: lastUserText(prompt),
    language: 'en',
    passages: [],
    isFound: false,
    isIndexing: false,
    hasKnownWord: false,
    areEmpty: false,
    mayOffer: false,
    ...given,
  }
}

function lastUserText(prompt: LanguageModelV4Prompt): string {
  const message = prompt.findLast((candidate) => candidate.role === 'user')
  if (message?.role !== 'user') return ''
  return message.content
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('\n')
    .trim()
}
