import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { type Dispatcher, request } from 'undici'
import { failureOfStatus, ModelFailure } from '../model-failure.ts'
import { createPartMaker } from './chunk-parts.ts'
import { requestBody } from './request-body.ts'
import { createDataReader } from './sse-data.ts'

type Settings = { name: string; baseUrl: string; apiKey: string | null; connections: Dispatcher }

/**
 * Our own lean adapter for servers that speak OpenAI's chat completion wire. Measured on 300 tokens: a third
 * of the processor time of the provider's package, which validates every piece.
 */
export function createCompatibleModel({ name, baseUrl, apiKey, connections }: Settings): LanguageModelV4 {
  const url = `${baseUrl.replace(/\/+$/, '')}/chat/completions`
  return {
    specificationVersion: 'v4',
    provider: 'openai-compatible',
    modelId: name,
    supportedUrls: {},
    doGenerate() {
      throw new Error('Answers are always streamed.')
    },
    async doStream(options: LanguageModelV4CallOptions) {
      const { statusCode, headers, body } = await request(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'text/event-stream',
          ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
        },
        body: JSON.stringify(requestBody(name, options)),
        signal: options.abortSignal ?? null,
        dispatcher: connections,
        // The caller keeps the time.
        headersTimeout: 0,
        bodyTimeout: 0,
      })
      if (statusCode !== 200) {
        const text = await body.text().catch(() => '')
        throw failureOfStatus(
          statusCode,
          headers['retry-after']?.toString(),
          new Error(`${statusCode} ${text}`),
        )
      }
      if (!String(headers['content-type'] ?? '').includes('text/event-stream')) {
        await body.dump().catch(() => {})
        throw new ModelFailure('invalid_response', new Error(`content type ${headers['content-type']}`))
      }
      return { stream: partStream(body) }
    },
  }
}

function partStream(
  body: AsyncIterable<Uint8Array> & { destroy(): void },
): ReadableStream<LanguageModelV4StreamPart> {
  const reader = createDataReader()
  const maker = createPartMaker()
  const chunks = body[Symbol.asyncIterator]()

  // What came before a fault in the same piece is still said: the fault is a part of its own behind it.
  const nextParts = async (): Promise<{ parts: LanguageModelV4StreamPart[]; ended: boolean }> => {
    const parts: LanguageModelV4StreamPart[] = []
    try {
      const { value, done } = await chunks.next()
      let ended = done === true
      for (const data of value ? reader.push(value) : []) {
        if (data === '[DONE]') ended = true
        else parts.push(...maker.partsOf(data))
      }
      if (ended) parts.push(...maker.end())
      return { parts, ended }
    } catch (error) {
      return { parts: [...parts, { type: 'error', error }], ended: true }
    }
  }

  return new ReadableStream<LanguageModelV4StreamPart>({
    async pull(controller) {
      // A pull may bring nothing to enqueue; then the next piece of the network is read at once.
      for (;;) {
        const { parts, ended } = await nextParts()
        for (const part of parts) controller.enqueue(part)
        if (ended) {
          controller.close()
          body.destroy()
        }
        if (ended || parts.length > 0) return
      }
    },
    cancel() {
      body.destroy()
    },
  })
}
