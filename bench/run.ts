import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { preparePostgres } from '../test/postgres.ts'
import { type ChatResult, chatScenario } from './chat.ts'
import { coldStartScenario } from './cold-start.ts'
import { crawlScenario } from './crawl.ts'
import { exportScenario } from './export.ts'
import { heldScenario } from './held.ts'
import { indexScenario } from './index.ts'
import { listScenario } from './list.ts'
import { retrievalScenario } from './retrieval.ts'
import { searchScenario } from './search.ts'

/**
 * `npm run bench [chat|held|list|search|export|index|crawl|cold-start|retrieval]`: all scenarios, or those named, on PostgreSQL and on the embedded
 * database. Writes bench/results/DATE.json and bench/results/README.md.
 */
const wanted = process.argv.slice(2)
const wants = (name: string): boolean => wanted.length === 0 || wanted.includes(name)
// It needs no database, and writes a report of its own.
if (wants('retrieval')) await retrievalScenario()
if (wanted.join() === 'retrieval') process.exit()
const postgres = await preparePostgres()
if (postgres.url === null) console.log(`Without PostgreSQL: ${postgres.reason}`)
const servers = postgres.url === null ? [null] : [postgres.url, null]
const results: Record<string, unknown>[] = []
const note = (result: object): void => {
  results.push({ ...result })
  console.log(JSON.stringify(result))
}
for (const server of servers) {
  if (wants('chat')) for (const result of await chatScenario(server)) note(result)
  if (wants('held')) note(await heldScenario(server))
  if (wants('list')) note(await listScenario(server, server ? 1_000_000 : 100_000))
  if (wants('index')) for (const dimensions of [0, 1536]) note(await indexScenario(server, dimensions))
  if (wants('search'))
    for (const conversations of server ? [100_000, 1_000_000] : [100_000])
      note(await searchScenario(server, conversations))
  if (wants('export') && server)
    for (const conversations of [10_000, 100_000])
      for (const result of await exportScenario(server, conversations)) note(result)
  if (wants('crawl')) note(await crawlScenario(server, 1_000))
  if (wants('cold-start')) note(await coldStartScenario(server))
}
if (postgres.url !== null) await postgres.stop()

const machine = {
  date: new Date().toISOString(),
  command: ['npm run bench', ...wanted].join(' '),
  node: process.version,
  processor: cpus()[0]?.model,
  cores: availableParallelism(),
  memoryGiB: Math.round(totalmem() / 2 ** 30),
}
const folder = new URL('./results/', import.meta.url)
mkdirSync(folder, { recursive: true })
writeFileSync(
  new URL(`${machine.date.slice(0, 10)}.json`, folder),
  `${JSON.stringify({ machine, results }, null, 2)}\n`,
)
writeFileSync(new URL('README.md', folder), report())

function report(): string {
  const chats = results.filter(({ scenario }) => scenario === 'chat') as unknown as ChatResult[]
  const rows = chats.map(
    ({ database, concurrency, service, modelServerAlone, addedFirstMs, ratio }) =>
      `| ${database} | ${concurrency} | ${service.perSecond} | ${modelServerAlone.perSecond} | ${ratio} | ${service.firstMs.p50} | ${addedFirstMs} | ${service.totalMs.p99} | ${service.cpuMsPerTurn} | ${service.failed} |`,
  )
  const others = results
    .filter(({ scenario }) => scenario !== 'chat')
    .map((result) => `- \`${JSON.stringify(result)}\``)
  return `# Results

${machine.date}, ${machine.processor}, ${machine.cores} cores, ${machine.memoryGiB} GiB, Node ${machine.node}; \`${machine.command}\`. Load generator, service, model server and database share the cores.

## Chat: streamed replies of 100 tokens, each in a new conversation

A new conversation costs the model server a second call, for the title; it is in the service's figures.

| database | at once | turns/s | model server alone | ratio | first token p50 ms | added ms | total p99 ms | CPU ms a turn | failed |
| - | - | - | - | - | - | - | - | - | - |
${rows.join('\n')}

From 100,000 conversations to a million, and the memory of exports: [growth.md](growth.md).

## Others

${others.join('\n')}
`
}
