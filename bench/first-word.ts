import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { startModelServer } from '../test/fakes/model-server.ts'
import type { Reply } from '../test/fakes/reply.ts'
import { type Client, type Service, startService } from '../test/start.ts'
import { trained } from '../test/until.ts'

/**
 * Measures the time to the first word with and without the reading of questions, on a scripted model server that takes
 * 200 ms to begin and writes 30 tokens a second: `node bench/first-word.ts [TURNS]`.
 */
const TURNS = Number(process.argv[2] ?? 10)
const BEGINS_MS = 200
const TOKEN_MS = 1_000 / 30
const pieces = (text: string): string[] => text.match(/[\s\S]{1,4}/g) ?? []
const scripted = (text: string): Reply => ({
  tokens: pieces(text),
  firstDelayMs: BEGINS_MS,
  delayMs: TOKEN_MS,
})
const READ = scripted(
  '{"kind":"question","queries":["weight of the ladder in kilograms","how heavy is the ladder"],"language":"en"}',
)
const TALKS: [string, string[]][] = [
  ['its words find it', ['What does the desk lamp weigh?']],
  ['its words find little', ['How heavy is the thing to climb on?']],
  ['follows another', ['What does the desk lamp weigh?', 'And how heavy is the other one?']],
  ['another language', ['Wie schwer ist die Leiter?']],
]

const models = await startModelServer()
models.otherwise(({ body }) =>
  JSON.stringify(body).includes('Read the last message') ? READ : scripted('It weighs nine kilograms [1].'),
)
const folder = await mkdtemp(join(tmpdir(), 'first-word-'))

type Side = { name: string; service: Service; client: Client; agentId: string }

async function start(understanding: boolean): Promise<Side> {
  const file = join(folder, `models-${understanding}.json`)
  const entry = { id: 'm', provider: 'openai-compatible', baseUrl: `${models.url}/v1`, understanding }
  await writeFile(file, JSON.stringify({ models: [entry] }))
  const service = await startService({ MODELS_FILE: file })
  const client = await service.account()
  const { id } = (await client.request('POST', '/agents', { name: 'Agent' })).body
  for (const content of ['The desk lamp weighs two kilograms.', 'The ladder weighs nine kilograms.']) {
    const source = { type: 'text', name: content, content }
    await trained(service, (await client.request('POST', `/agents/${id}/sources`, source)).body.id)
  }
  return { name: understanding ? 'with' : 'without', service, client, agentId: id }
}

const sides = [await start(false), await start(true)]
const load = (): string => loadavg()[0]?.toFixed(1) ?? ''
const before = load()
const rows: string[] = []
for (const [what, messages] of TALKS) {
  const times = new Map(sides.map(({ name }) => [name, [] as number[]]))
  // One turn of each by turns, so that whatever else the machine does is the same for both.
  for (let turn = 0; turn < TURNS; turn++)
    for (const { name, client, agentId } of sides)
      times.get(name)?.push(await firstWord(client, agentId, messages))
  for (const [name, all] of times) {
    all.sort((a, b) => a - b)
    const at = (share: number): number => Math.round(all[Math.floor(share * (all.length - 1))] ?? 0)
    rows.push(`| ${what} | ${name} | ${at(0.5)} | ${at(0.95)} |`)
  }
}
for (const { service } of sides) await service.close()
await models.close()
await rm(folder, { recursive: true })
process.stdout.write(
  `${TURNS} turns of each, by turns; load ${before} before, ${load()} after\n\n| The question | understanding | first word, median (ms) | 95 % |\n| - | - | - | - |\n${rows.join('\n')}\n`,
)

/** Returns the milliseconds to the first word of the last answer of a talk. */
async function firstWord(client: Client, agentId: string, messages: string[]): Promise<number> {
  let conversationId: string | undefined
  let ms = 0
  for (const message of messages) {
    const startedAt = performance.now()
    const response = await client.raw('POST', `/agents/${agentId}/chat`, {
      body: JSON.stringify({ message, ...(conversationId ? { conversationId } : {}) }),
      headers: { 'content-type': 'application/json' },
    })
    let said = ''
    let isFirst = true
    const decoder = new TextDecoder()
    for await (const bytes of response.body ?? []) {
      said += decoder.decode(bytes, { stream: true })
      if (isFirst && said.includes('"text-delta"')) {
        ms = performance.now() - startedAt
        isFirst = false
      }
    }
    conversationId = /"conversationId":"([^"]+)"/.exec(said)?.[1]
  }
  return ms
}
