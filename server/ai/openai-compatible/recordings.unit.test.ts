import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { streamModel } from '../calls/call-model.ts'
import type { Part } from '../calls/model-call.ts'
import { parseCatalogue } from '../catalogue/catalogue.ts'
import { ModelFailure } from '../failures/model-failure.ts'
import { createModels, type Models } from '../models.ts'
import { azure } from './fixtures/azure.ts'
import { gemini } from './fixtures/gemini.ts'
import { llamaCpp } from './fixtures/llama-cpp.ts'
import { lmStudio } from './fixtures/lm-studio.ts'
import { ollama } from './fixtures/ollama.ts'
import { openRouter } from './fixtures/openrouter.ts'
import type { Recording } from './fixtures/recording.ts'
import { shapes } from './fixtures/shapes.ts'
import { vllm } from './fixtures/vllm.ts'

const SERVERS: Record<string, Recording[]> = {
  vLLM: vllm,
  Ollama: ollama,
  'llama.cpp': llamaCpp,
  'LM Studio': lmStudio,
  Gemini: gemini,
  OpenRouter: openRouter,
  'Azure OpenAI': azure,
  'servers that differ': shapes,
}
/** The bytes per write: everything at once, so few that every token is split, and one. */
const CUTS = [0, 7, 1]
const RECORDINGS = Object.values(SERVERS).flat()

let server: Server
let models: Models

before(async () => {
  server = createServer((request, response) => {
    const [, index, cut] = (request.url ?? '').split('/').map(Number)
    const { body, contentType = 'text/event-stream' } = RECORDINGS[index!]!
    response.writeHead(200, { 'content-type': contentType })
    const bytes = Buffer.from(body)
    const size = cut || bytes.length
    for (let from = 0; from < bytes.length; from += size) response.write(bytes.subarray(from, from + size))
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const entries = RECORDINGS.flatMap((_, index) =>
    CUTS.map((cut) => ({
      id: `${index}/${cut}`,
      provider: 'openai-compatible',
      name: 'recorded',
      baseUrl: `http://127.0.0.1:${port}/${index}/${cut}`,
    })),
  )
  const none = { baseUrl: null, apiKey: null, model: null, embeddingModel: null }
  models = createModels({ catalogue: parseCatalogue({ models: entries }, none, {}), builtin: {} as never })
})
after(async () => {
  await models.close()
  server.close()
})

const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hello?' }] }]

async function play(id: string): Promise<{ parts: Part[]; failure: unknown }> {
  const parts: Part[] = []
  try {
    const { signal } = new AbortController()
    for await (const batch of streamModel(models.resolve(id)!, { prompt }, { signal })) parts.push(...batch)
    return { parts, failure: null }
  } catch (failure) {
    return { parts, failure }
  }
}

function check({ parts, failure }: { parts: Part[]; failure: unknown }, expected: Recording): void {
  const joined = (type: 'text-delta' | 'reasoning-delta'): string =>
    parts.map((part) => (part.type === type ? part.delta : '')).join('')
  assert.equal(joined('text-delta'), expected.text ?? '')
  assert.equal(joined('reasoning-delta'), expected.thinking ?? '')
  if (expected.fails) {
    assert.ok(failure instanceof ModelFailure, `${failure}`)
    assert.equal(failure.kind, expected.fails, `${failure.cause}`)
    return
  }
  assert.equal(failure, null, `${failure} ${(failure as Error | null)?.cause}`)
  const calls = parts.filter((part) => part.type === 'tool-call')
  assert.deepEqual(
    calls.map(({ toolName, input }) => [toolName, JSON.parse(input)]),
    expected.calls ?? [],
  )
  assert.equal(new Set(calls.map(({ toolCallId }) => toolCallId)).size, calls.length)
  for (const { toolCallId, toolName, input } of calls) {
    const starts = parts.filter((part) => part.type === 'tool-input-start' && part.id === toolCallId)
    assert.deepEqual(
      starts.map((part) => part.type === 'tool-input-start' && part.toolName),
      [toolName],
    )
    const pieces = parts.map((part) =>
      part.type === 'tool-input-delta' && part.id === toolCallId ? part.delta : '',
    )
    assert.equal(pieces.join('') || '{}', input)
  }
  for (const kind of ['text', 'reasoning']) {
    const count = (end: string): number => parts.filter(({ type }) => type === `${kind}-${end}`).length
    assert.equal(count('start'), count('end'), kind)
  }
  const finish = parts.at(-1)
  assert.ok(finish?.type === 'finish')
  assert.equal(finish.finishReason.unified, expected.finish ?? 'stop')
  if (expected.outputTokens) assert.equal(finish.usage.outputTokens.total, expected.outputTokens)
}

for (const [name, recordings] of Object.entries(SERVERS)) {
  describe(name, () => {
    for (const recording of recordings) {
      test(`${recording.name}, in one write, in writes of 7 bytes and of one byte`, async () => {
        for (const cut of CUTS) check(await play(`${RECORDINGS.indexOf(recording)}/${cut}`), recording)
      })
    }
  })
}

test('the signature of a call is sent back with it', async () => {
  const { parts } = await play(`${RECORDINGS.indexOf(gemini[1]!)}/0`)
  const call = parts.find((part) => part.type === 'tool-call')
  assert.deepEqual(call?.providerMetadata, {
    openaiCompatible: { extra_content: { google: { thought_signature: 'EjQKMgEMOdbH' } } },
  })
})
