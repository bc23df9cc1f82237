import { createBuiltinModel } from '../server/ai/built-in/builtin-model.ts'
import { streamModel } from '../server/ai/calls/call-model.ts'
import { parseCatalogue } from '../server/ai/catalogue/catalogue.ts'
import { createModels } from '../server/ai/models.ts'

/**
 * Measures the processor time of this process for each model call, with a server that has OpenAI's API: node
 * bench/model-wire.ts http://127.0.0.1:4010/v1 [calls] [at once] [provider]
 */
const [baseUrl = 'http://127.0.0.1:4010/v1', calls = '2000', atOnce = '32', provider = 'openai-compatible'] =
  process.argv.slice(2)

const none = { baseUrl: null, apiKey: null, model: null, embeddingModel: null }
const file = { models: [{ id: 'm', provider, baseUrl, apiKey: 'k' }] }
const models = createModels({
  catalogue: parseCatalogue(file, none, {}),
  builtin: createBuiltinModel(),
})
const model = models.resolve('m')!
const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Say [[tokens:100]]' }] }]
let deltas = 0
let reads = 0

async function callOnce(): Promise<void> {
  for await (const parts of streamModel(model, { prompt }, { signal: new AbortController().signal })) {
    reads++
    for (const part of [parts].flat()) if (part.type === 'text-delta') deltas++
  }
}

async function run(count: number): Promise<void> {
  let left = count
  const one = async (): Promise<void> => {
    while (left-- > 0) await callOnce()
  }
  await Promise.all(Array.from({ length: Number(atOnce) }, one))
}

await run(300)
deltas = 0
reads = 0
const cpu = process.cpuUsage()
const start = performance.now()
await run(Number(calls))
const { user, system } = process.cpuUsage(cpu)
const each = (value: number): number => Math.round((value / Number(calls)) * 1000) / 1000
console.log(
  JSON.stringify({
    provider,
    calls: Number(calls),
    atOnce: Number(atOnce),
    cpuMsPerCall: each((user + system) / 1000),
    userMs: each(user / 1000),
    systemMs: each(system / 1000),
    callsPerSecond: Math.round((Number(calls) * 1000) / (performance.now() - start)),
    deltasPerCall: each(deltas),
    yieldsPerCall: each(reads),
  }),
)
await models.close()
process.exit()
