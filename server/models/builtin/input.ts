import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider'
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
  /** Of a question-and-answer source: `text` is the answer to each of them. */
  questions?: string[]
}

/** What the responder answers from: goes in `providerOptions.parley` of a call. Passages best first. */
export type BuiltinInput = {
  question: string
  /** The question with what was asked before, when it goes on from there. */
  about?: string
  /** 0..1, from the search: how likely the first passage is right. */
  confidence: number
  passages: QuotablePassage[]
  /** What to call instead of an answer; null or absent: nobody asked for a person, or nobody can be called. */
  handover?: Handover | null
  /** False: there is nobody to pass a question on to, and none is offered. */
  mayOffer?: boolean
}

/** The input of a call; without one, the last user message and nothing to quote. */
export function inputOfCall(options: LanguageModelV4CallOptions): BuiltinInput {
  const given = options.providerOptions?.parley
  if (!given) return { question: lastUserText(options.prompt), confidence: 0, passages: [] }
  const {
    question,
    about,
    confidence,
    passages,
    handover = null,
    mayOffer = true,
  } = given as unknown as BuiltinInput
  if (typeof question !== 'string' || typeof confidence !== 'number' || !Array.isArray(passages)) {
    throw new TypeError(
      'providerOptions.parley must hold question (string), confidence (number), passages (array)',
    )
  }
  return {
    question,
    confidence,
    passages,
    handover,
    mayOffer,
    ...(typeof about === 'string' ? { about } : {}),
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
