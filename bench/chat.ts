import { type Figures, load, round } from './load.ts'
import { cpuMs, prepare, start, stop } from './service.ts'

export type ChatResult = {
  scenario: string
  database: string
  concurrency: number
  service: Figures & { cpuMsPerTurn: number }
  modelServerAlone: Figures
  /** The median of the added time to the first token, and the turns as a share of those of the model server. */
  addedFirstMs: number
  ratio: number
}

const TURNS: Record<number, number> = { 1: 300, 16: 1_500, 32: 2_500 }

/** Measures streamed replies of 100 tokens, each in a new conversation, and the same load on the model server. */
export async function chatScenario(server: string | null): Promise<ChatResult[]> {
  const models = await start(['bench/model-server.ts', '100'])
  const prepared = await prepare(server, 400)
  const { url, child } = await start(['server/main.ts'], {
    ...prepared.env,
    OPENAI_BASE_URL: `${models.url}/v1`,
    OPENAI_MODEL: 'bench',
  })
  const results: ChatResult[] = []
  const body = JSON.stringify({ message: 'How long is the warranty of the lamp?' })
  let used = 0
  const turn = () => ({
    path: `/api/v2/agents/${prepared.agentId}/chat`,
    headers: {
      authorization: `Bearer ${prepared.keys[used++ % prepared.keys.length]}`,
      'content-type': 'application/json',
    },
    body,
  })
  const direct = () => ({
    path: '/v1/chat/completions',
    headers: { 'content-type': 'application/json' },
    body: '{"stream":true}',
  })
  const marks = { mark: 'word0', end: '[DONE]' }
  await load(url, { concurrency: 8, count: 200, make: turn, ...marks })
  for (const [key, count] of Object.entries(TURNS)) {
    const concurrency = Number(key)
    const modelServerAlone = await load(models.url, { concurrency, count, make: direct, ...marks })
    const before = cpuMs(child)
    const service = await load(url, { concurrency, count, make: turn, ...marks })
    results.push({
      scenario: 'chat',
      database: server ? 'PostgreSQL' : 'embedded',
      concurrency,
      service: { ...service, cpuMsPerTurn: round((cpuMs(child) - before) / count) },
      modelServerAlone,
      addedFirstMs: round(service.firstMs.p50 - modelServerAlone.firstMs.p50),
      ratio: round(service.perSecond / modelServerAlone.perSecond),
    })
  }
  await stop(child)
  await stop(models.child)
  await prepared.remove()
  return results
}
