import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { Language } from '../../text/languages/language.ts'
import type { Message } from '../../text/talk/read-message.ts'
import type { Handover } from './hand-over.ts'

/** A passage the responder may quote; the fields are those of a search result. */
export type QuotablePassage = {
  sourceId: string
  sourceName: string | null
  url: string | null
  headingPath: string[]
  page: number | null
  text: string
  score: number
  /** The parts of the list that `text` begins with, or ends with, that are not in it. */
  listBefore?: string
  listAfter?: string
  /** The questions of a question-and-answer source, to each of which `text` is the answer. */
  questions?: string[]
}

/** The input of the responder, which a call passes in `providerOptions.parley`. The passages are best first. */
export type BuiltinInput = {
  question: string
  /** The question together with the earlier one, if it is a follow-up. */
  about?: string
  /** The probability (0 to 1), from the search, that the first passage is right. */
  confidence: number
  passages: QuotablePassage[]
  /**
   * The action to call instead of answering; null or absent if nobody asked for a person, or nobody can be called.
   */
  handover?: Handover | null
  /** False if there is nobody to hand the visitor over to, so no person is offered. */
  mayOffer?: boolean
  /** What the message is. Without this, its words alone tell it. */
  message?: Pick<Message, 'language' | 'isSure'> & { kind: Message['kind'] | 'person' }
  /** What the agent said last. */
  before?: string
  agentName?: string
  /** What there is to answer from; `subjects` are headings. */
  documents?: { areEmpty: boolean; language: Language | null; subjects: string[] }
  /** The questions of a message that asks several, with the places of their passages among `passages`. */
  parts?: AnsweredPart[]
}

/** One of several questions in a message. */
export type AnsweredPart = { question: string; about?: string; confidence: number; places: number[] }

/** Returns the input of a call; without one, the last user message and nothing to quote. */
export function inputOfCall(options: LanguageModelV4CallOptions): BuiltinInput {
  const given = options.providerOptions?.parley
  if (!given) return { question: lastUserText(options.prompt), confidence: 0, passages: [] }
  const input = given as unknown as BuiltinInput
  const { question, confidence, passages } = input
  if (typeof question !== 'string' || typeof confidence !== 'number' || !Array.isArray(passages)) {
    throw new TypeError(
      'providerOptions.parley must hold question (string), confidence (number), passages (array)',
    )
  }
  return input
}

function lastUserText(prompt: LanguageModelV4Prompt): string {
  const message = prompt.findLast((candidate) => candidate.role === 'user')
  if (message?.role !== 'user') return ''
  return message.content
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('\n')
    .trim()
}
