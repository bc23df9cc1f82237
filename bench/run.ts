import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { preparePostgres } from '../test/postgres.ts'
import { type ChatResult, chatScenario } from './chat.ts'
import { coldStartScenario } from './cold-start.ts'
import { crawlScenario } from './crawl.ts'
import { exportScenario } from './export.ts'
import { heldScenario } from './held.ts'
import { indexScenario } from './index.ts'
import { listScenario } from './list.ts'
import { pdfScenario } from './pdf.ts'
import { retrievalScenario } from './retrieval.ts'
import { searchScenario } from './search.ts'

/** What runs on each database; `server` is null for the embedded one. */
const SCENARIOS: Record<string, (server: string | null) => AsyncIterable<object>> = {
  async *chat(server) {
    yield* await chatScenario(server)
  },
  async *held(server) {
    yield await heldScenario(server)
  },
  async *list(server) {
    yield await listScenario(server, server ? 1_000_000 : 100_000)
  },
  async *index(server) {
    for (const dimensions of [0, 1536]) yield await indexScenario(server, dimensions)
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
}

/**
 * `npm run bench [SCENARIO …]`: all scenarios, or those named, on PostgreSQL and on the embedded database. Each writes
 * bench/results/SCENARIO.json; README.md there is made of all of them. `retrieval` writes a report of its own.
 */
const wanted = process.argv.slice(2)
const names = [...Object.keys(SCENARIOS), 'retrieval'].filter(
  (name) => wanted.length === 0 || wanted.includes(name),
)
const folder = new URL('./results/', import.meta.url)
if (names.includes('retrieval')) await retrievalScenario()
if (names.join() !== 'retrieval') {
  const postgres = await preparePostgres()
  if (postgres.url === null) console.log(`Without PostgreSQL: ${postgres.reason}`)
  for (const name of names) {
    const run = SCENARIOS[name]
    if (run) await record(name, run, postgres.url === null ? [null] : [postgres.url, null])
  }
  if (postgres.url !== null) await postgres.stop()
  writeFileSync(new URL('README.md', folder), report())
}

type Recorded = { machine: ReturnType<typeof machineOf>; results: Record<string, unknown>[] }

async function record(
  name: string,
  run: (server: string | null) => AsyncIterable<object>,
  servers: (string | null)[],
): Promise<void> {
  const results: object[] = []
  for (const server of servers) {
    for await (const result of run(server)) {
      results.push(result)
      console.log(JSON.stringify(result))
    }
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
  const sections = Object.keys(SCENARIOS).flatMap((name) => {
    const file = new URL(`${name}.json`, folder)
    if (!existsSync(file)) return []
    const { machine, results } = JSON.parse(readFileSync(file, 'utf8')) as Recorded
    const { date, command, node, processor, cores, memoryGiB } = machine
    const where = `${date}, ${processor}, ${cores} cores, ${memoryGiB} GiB, Node ${node}; \`${command}\`.`
    const figures = name === 'chat' ? chatTable(results as unknown as ChatResult[]) : listOf(results)
    return [`## ${name}\n\n${where}\n\n${figures}`]
  })
  return `# Results

Load generator, service, model server and database share the cores. From 100,000 conversations to a million, and the
memory of exports: [growth.md](growth.md). Answers from documents: [retrieval.md](retrieval.md).

${sections.join('\n\n')}
`
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
