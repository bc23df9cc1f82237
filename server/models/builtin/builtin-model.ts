import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import type { WordVectors } from '../static/word-vectors.ts'
import { answerParts } from './answer-parts.ts'
import { type ComposedAnswer, composeAnswer } from './compose-answer.ts'
import { handOver } from './hand-over.ts'
import { inputOfCall } from './input.ts'
import { replyToTalk } from './reply-to-talk.ts'

/** The approximate number of characters per token in European languages. */
const CHARACTERS_PER_TOKEN = 4
const WORDS_PER_DELTA = 3
const TEXT_ID = 'text-1'

/**
 * The responder that needs no provider: it quotes what the search found (see `BuiltinInput`). The finish part
 * contains the band, score and cited passages in `providerMetadata.parley`.
 */
export function createBuiltinModel(words: WordVectors): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'parley',
    modelId: 'builtin',
    supportedUrls: {},
    async doGenerate(options) {
      options.abortSignal?.throwIfAborted()
      const answer = answerTo(options, words)
      if ('call' in answer) throw new Error('A request for a person is answered by a stream.')
      return {
        content: [{ type: 'text', text: answer.text }],
        finishReason: { unified: 'stop', raw: undefined },
        usage: usageOf(options, answer.text),
        providerMetadata: metadataOf(answer),
        warnings: [],
      }
    },
    async doStream(options) {
      options.abortSignal?.throwIfAborted()
      const answer = answerTo(options, words)
      if ('call' in answer)
        return { stream: streamOf(callOf(answer.call, usageOf(options, '')), options.abortSignal) }
      return { stream: streamOf(partsOf(answer, usageOf(options, answer.text)), options.abortSignal) }
    },
  }
}

type Call = Extract<LanguageModelV4StreamPart, { type: 'tool-call' }>

function answerTo(options: LanguageModelV4CallOptions, words: WordVectors): ComposedAnswer | { call: Call } {
  const input = inputOfCall(options)
  if (input.handover) {
    const said = handOver(input.handover, options)
    return 'call' in said ? said : { band: 'greeting', text: said.text, cited: [], score: 1 }
  }
  return replyToTalk(input, words) ?? answerParts(input, words) ?? composeAnswer(input, words)
}

function* callOf(call: Call, usage: LanguageModelV4Usage): Generator<LanguageModelV4StreamPart> {
  yield { type: 'stream-start', warnings: [] }
  yield call
  yield { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage }
}

function* partsOf(answer: ComposedAnswer, usage: LanguageModelV4Usage): Generator<LanguageModelV4StreamPart> {
  yield { type: 'stream-start', warnings: [] }
  // A reader who shows the text must know the sources before the first marker arrives.
  yield {
    type: 'text-start',
    id: TEXT_ID,
    providerMetadata: { parley: { cited: answer.cited, band: answer.band } },
  }
  for (const delta of wordGroups(answer.text)) yield { type: 'text-delta', id: TEXT_ID, delta }
  yield { type: 'text-end', id: TEXT_ID }
  const finishReason = { unified: 'stop', raw: undefined } as const
  yield { type: 'finish', finishReason, usage, providerMetadata: metadataOf(answer) }
}

function streamOf(
  parts: Generator<LanguageModelV4StreamPart>,
  signal: AbortSignal | undefined,
): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream(
    {
      pull(controller) {
        if (signal?.aborted) {
          controller.error(signal.reason)
          return
        }
        const { value, done } = parts.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
    },
    { highWaterMark: 0 },
  )
}

/** Splits a text into pieces of a few words each; joined, they equal the text. */
export function wordGroups(text: string): string[] {
  const words = text.match(/\s*\S+(?:\s+$)?|\s+$/g) ?? []
  const groups: string[] = []
  for (let i = 0; i < words.length; i += WORDS_PER_DELTA)
    groups.push(words.slice(i, i + WORDS_PER_DELTA).join(''))
  return groups
}

function metadataOf({ band, score, cited }: ComposedAnswer): {
  parley: { band: string; score: number; cited: number[] }
} {
  return { parley: { band, score, cited } }
}

function usageOf({ prompt }: LanguageModelV4CallOptions, text: string): LanguageModelV4Usage {
  const characters = prompt.reduce((sum, { content }) => {
    if (typeof content === 'string') return sum + content.length
    return sum + content.reduce((part, piece) => part + (piece.type === 'text' ? piece.text.length : 0), 0)
  }, 0)
  const input = Math.ceil(characters / CHARACTERS_PER_TOKEN)
  const output = Math.ceil(text.length / CHARACTERS_PER_TOKEN)
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  }
}
