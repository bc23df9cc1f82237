import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import { estimateTokens } from '../../platform/text/languages/language.ts'
import { type Answer, answer, handedOver } from './answer.ts'
import { type BuiltinInput, type Handover, inputOfCall } from './input.ts'

const WORDS_PER_DELTA = 3
const TEXT_ID = 'text-1'

/**
 * The responder that needs no provider: a search box, which quotes what the search found (see `BuiltinInput`). Its start
 * of the text and its finish contain the outcome, the cited passages and what is offered in `providerMetadata.parley`.
 */
export function createBuiltinModel(): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'parley',
    modelId: 'builtin',
    supportedUrls: {},
    async doGenerate(options) {
      options.abortSignal?.throwIfAborted()
      const said = answer(inputOfCall(options))
      return {
        content: [{ type: 'text', text: said.text }],
        finishReason: { unified: 'stop', raw: undefined },
        usage: usageOf(options, said.text),
        providerMetadata: metadataOf(said),
        warnings: [],
      }
    },
    async doStream(options) {
      options.abortSignal?.throwIfAborted()
      return { stream: streamOf(partsFor(options, inputOfCall(options)), options.abortSignal) }
    },
  }
}

/** A customer who goes to a person is answered by a call first and, with its result, by what follows from it. */
function partsFor(options: LanguageModelV4CallOptions, input: BuiltinInput) {
  const { handover } = input
  const said = handover?.when === 'asked' ? null : answer(input)
  if (!handover || (said && said.outcome !== 'not_found')) return partsOf(said ?? answer(input), options)
  const last = options.prompt.at(-1)
  const result = last?.role === 'tool' ? last.content.find((part) => part.type === 'tool-result') : undefined
  if (result?.type !== 'tool-result') return callOf(handover, options)
  const output = result.output.type === 'json' ? result.output.value : null
  return partsOf(handedOver(input.language, output, said), options)
}

function* callOf(
  { tool, input }: Handover,
  options: LanguageModelV4CallOptions,
): Generator<LanguageModelV4StreamPart> {
  yield { type: 'stream-start', warnings: [] }
  yield { type: 'tool-call', toolCallId: 'handover', toolName: tool, input: JSON.stringify(input) }
  yield {
    type: 'finish',
    finishReason: { unified: 'tool-calls', raw: undefined },
    usage: usageOf(options, ''),
  }
}

function* partsOf(said: Answer, options: LanguageModelV4CallOptions): Generator<LanguageModelV4StreamPart> {
  yield { type: 'stream-start', warnings: [] }
  // A reader who shows the text must know the sources before the first marker arrives.
  yield { type: 'text-start', id: TEXT_ID, providerMetadata: metadataOf(said) }
  for (const delta of wordGroups(said.text)) yield { type: 'text-delta', id: TEXT_ID, delta }
  yield { type: 'text-end', id: TEXT_ID }
  yield {
    type: 'finish',
    finishReason: { unified: 'stop', raw: undefined },
    usage: usageOf(options, said.text),
    providerMetadata: metadataOf(said),
  }
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

const metadataOf = ({ cited, outcome, offer }: Answer) => ({
  parley: { cited, outcome, ...(offer ? { offer } : {}) },
})

function usageOf({ prompt }: LanguageModelV4CallOptions, text: string): LanguageModelV4Usage {
  const read = prompt.map(({ content }) =>
    typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')),
  )
  const input = estimateTokens(read.flat().join(''))
  const output = estimateTokens(text)
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  }
}
