import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { preparePostgres } from '../test/postgres.ts'
import { attackReport, attackScenario } from './attack.ts'
import { type ChatResult, chatScenario } from './chat.ts'
import { coldStartScenario } from './cold-start.ts'
import { crawlScenario } from './crawl.ts'
import { exportScenario } from './export.ts'
import { followersScenario } from './followers.ts'
import { heldScenario } from './held.ts'
import { indexScenario } from './index.ts'
import { listScenario } from './list.ts'
import { pdfScenario } from './pdf.ts'
import { retrievalScenario } from './retrieval.ts'
import { searchScenario } from './search.ts'
import { type TextResult, textReport, textScenario } from './text.ts'
import { type RestResult, type TurnResult, turnScenario } from './turn.ts'
import { uploadsScenario } from './uploads.ts'
import { webScenario } from './web.ts'

/** The scenarios that run on each database. `server` is null for the embedded one. */
const SCENARIOS: Record<string, (server: string | null) => AsyncIterable<object>> = {
  async *chat(server) {
    yield* await chatScenario(server)
  },
  async *followers(server) {
    yield await followersScenario(server)
  },
  async *held(server) {
    yield await heldScenario(server)
  },
  async *list(server) {
    yield await listScenario(server, server ? 1_000_000 : 100_000)
  },
  async *index(server) {
    yield* indexScenario(server)
  },
  async *search(server) {
    for (const conversations of server ? [100_000, 1_000_000] : [100_000])
      yield await searchScenario(server, conversations)
  },
  async *export(server) {
    if (server)
      for (const conversations of [10_000, 100_000]) yield* await exportScenario(server, conversations)
  },
  async *crawl(server) {
    yield await crawlScenario(server, 1_000)
  },
  async *pdf(server) {
    yield await pdfScenario(server, 500, 60)
  },
  async *'cold-start'(server) {
    yield await coldStartScenario(server)
  },
  async *uploads(server) {
    yield await uploadsScenario(server)
  },
}

/** The scenarios that compare the databases in one run. */
const COMPARISONS: Record<string, (servers: (string | null)[]) => AsyncIterable<object>> = {
  turn: turnScenario,
}

/**
 * `npm run bench [SCENARIO …]` runs all or the named scenarios on PostgreSQL and on the embedded database. Each
 * writes bench/results/SCENARIO.json, from which README.md there is generated. `retrieval`, `attack`, `text` and
 * `web` write reports of their own. Arguments after `attack` choose among the attacks.
 */
const wanted = process.argv.slice(2)
/** These write reports of their own. */
const REPORTED = ['retrieval', 'attack', 'text', 'web']
const recorded = [...Object.keys(SCENARIOS), ...Object.keys(COMPARISONS)]
const names = [...recorded, ...REPORTED].filter((name) => wanted.length === 0 || wanted.includes(name))
const folder = new URL('./results/', import.meta.url)
if (names.includes('text')) {
  const results: TextResult[] = []
  for await (const result of textScenario()) results.push(result)
  writeFileSync(new URL('text.md', folder), textReport(results))
}
if (names.some((name) => name !== 'text')) {
  const postgres = await preparePostgres()
  try {
    await runOn(postgres)
  } finally {
    // A scenario that fails leaves no cluster behind.
    if (postgres.url !== null) await postgres.stop()
  }
}
if (names.some((name) => recorded.includes(name))) writeFileSync(new URL('README.md', folder), report())

async function runOn(postgres: Awaited<ReturnType<typeof preparePostgres>>): Promise<void> {
  if (postgres.url === null) console.log(`Without PostgreSQL: ${postgres.reason}`)
  const servers = postgres.url === null ? [null] : [postgres.url, null]
  if (names.includes('retrieval')) for (const server of servers) await retrievalScenario(server)
  if (names.includes('web')) writeFileSync(new URL('web.md', folder), await webScenario(postgres.url))
  if (names.includes('attack')) {
    const measured = []
    for (const server of servers) {
      const rows = await attackScenario(server, wanted[wanted.indexOf('attack') + 1] ?? '')
      measured.push({ database: server ? 'PostgreSQL' : 'embedded', rows })
    }
    writeFileSync(new URL('attack.md', folder), attackReport(measured))
  }
  for (const name of names) {
    const run = SCENARIOS[name]
    if (run) await record(name, onEach(servers, run))
    else if (COMPARISONS[name]) await record(name, COMPARISONS[name](servers))
  }
}

type Recorded = { machine: ReturnType<typeof machineOf>; results: Record<string, unknown>[] }

async function* onEach(
  servers: (string | null)[],
  run: (server: string | null) => AsyncIterable<object>,
): AsyncIterable<object> {
  for (const server of servers) yield* run(server)
}

async function record(name: string, run: AsyncIterable<object>): Promise<void> {
  const results: object[] = []
  for await (const result of run) {
    results.push(result)
    console.log(JSON.stringify(result))
  }
  const json = JSON.stringify({ machine: machineOf(name), results }, null, 2)
  writeFileSync(new URL(`${name}.json`, folder), `${json}\n`)
}

function machineOf(name: string) {
  return {
    date: new Date().toISOString(),
    command: `npm run bench ${name}`,
    node: process.version,
    processor: cpus()[0]?.model,
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
  }
}

function report(): string {
  const sections = recorded.flatMap((name) => {
    const file = new URL(`${name}.json`, folder)
    if (!existsSync(file)) return []
    const { machine, results } = JSON.parse(readFileSync(file, 'utf8')) as Recorded
    const { date, command, node, processor, cores, memoryGiB } = machine
    const where = `${date}, ${processor}, ${cores} cores, ${memoryGiB} GiB, Node ${node}; \`${command}\`.`
    const figures = figuresOf(name, results)
    return [`## ${name}\n\n${where}\n\n${figures}`]
  })
  return `# Results

Load generator, service, model server and database share the cores. From 100,000 conversations to a million, and the
memory of exports: [growth.md](growth.md). Answers from documents: [retrieval.md](retrieval.md).
Calls of models: [model-wire.md](model-wire.md). Attacks beside ordinary chats: [attack.md](attack.md).
Hostile text: [text.md](text.md). The workspace in a browser: [web.md](web.md).

${sections.join('\n\n')}
`
}

function figuresOf(name: string, results: object[]): string {
  if (name === 'chat') return chatTable(results as ChatResult[])
  if (name === 'turn') return turnTable(results as (TurnResult | RestResult)[])
  return listOf(results)
}

function turnTable(results: (TurnResult | RestResult)[]): string {
  const rows = results.flatMap((result) => {
    if (!('concurrency' in result)) return []
    const { what, concurrency, perSecond, firstMs, serviceMs, databaseMs, timesFloor, failed } = result
    const times = timesFloor ? `${timesFloor.processor} | ${timesFloor.first}` : '1 | 1'
    return [
      `| ${what} | ${concurrency} | ${perSecond} | ${serviceMs} | ${databaseMs} | ${firstMs} | ${times} | ${failed} |`,
    ]
  })
  const atRest = results.filter((result) => !('concurrency' in result))
  return `Streamed replies of 100 tokens that the model server writes one by one, each in a new conversation, beside the floor: the
least that a service on Node has to do (\`bench/floor.ts\`).

| what | at once | turns/s | service CPU ms a turn | PostgreSQL CPU ms a turn | first token p50 ms | CPU, times the floor | first token, times the floor | failed |
| - | - | - | - | - | - | - | - | - |
${rows.join('\n')}

${listOf(atRest)}`
}

function listOf(results: object[]): string {
  return results.map((result) => `- \`${JSON.stringify(result)}\``).join('\n')
}

function chatTable(results: ChatResult[]): string {
  const rows = results.map(
    ({ database, concurrency, service, modelServerAlone, addedFirstMs, ratio }) =>
      `| ${database} | ${concurrency} | ${service.perSecond} | ${modelServerAlone.perSecond} | ${ratio} | ${service.firstMs.p50} | ${addedFirstMs} | ${service.totalMs.p99} | ${service.cpuMsPerTurn} | ${service.failed} |`,
  )
  return `Streamed replies of 100 tokens, each in a new conversation: that costs the model server a second call, for the title,
which is in the service's figures.

| database | at once | turns/s | model server alone | ratio | first token p50 ms | added ms | total p99 ms | CPU ms a turn | failed |
| - | - | - | - | - | - | - | - | - | - |
${rows.join('\n')}`
}
