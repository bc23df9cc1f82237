import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, setPriority } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Pool } from 'undici'
import { createKey } from '../server/accounts/keys/keys.ts'
import { createAccount } from '../server/accounts/records/accounts.ts'
import { createAgent } from '../server/agents/records/create-agent.ts'
import { ATTACKS, type Target } from './attacker.ts'
import { load, percentiles, round } from './load.ts'
import { cpuMs, type Prepared, prepare, start, stop } from './service.ts'

/** The number of API keys of the attacking account. */
const KEYS = 60
const CHATS = 16
/** The duration of each attack, and of the chats alone before it. */
const MEASURED_MS = 12_000

type Row = {
  name: string
  alone: Figures
  beside: Figures
  memoryMb: { before: number; most: number; after: number }
}
type Figures = {
  perSecond: number
  firstP95: number
  healthWorst: number
  failed: number
  /** The processor time of the service, in milliseconds per second. */
  cpu: number
}

/** `npm run bench attack [PART OF A NAME]`: each attack beside 16 ordinary chats of another account. */
export async function attackScenario(server: string | null, wanted = ''): Promise<Row[]> {
  const rows: Row[] = []
  for (const name of Object.keys(ATTACKS).filter((each) => each.includes(wanted))) {
    rows.push(await measure(server, name))
    console.log(JSON.stringify(rows.at(-1)))
  }
  return rows
}

async function measure(server: string | null, name: string): Promise<Row> {
  const models = await start(['bench/model-server.ts', '100'])
  const long = await start(['bench/model-server.ts', '20000'])
  const dying = await start(['bench/model-server.ts', '600', '1000'])
  for (const each of [long, dying]) yieldTurn(each.child)
  const keys: string[] = []
  const agents = { long: '', dying: '', plain: '' }
  const prepared = await prepare(server, 400, async (db) => {
    const id = await createAccount(db, 'Attacker')
    for (const model of ['plain', 'long', 'dying'] as const)
      agents[model] = await createAgent(db, { id, plan: 'unlimited' }, 'bench', { name: model, model })
    await db.updateTable('agents').set({ visibility: 'public' }).where('account_id', '=', id).execute()
    for (let i = 0; i < KEYS; i++) keys.push((await createKey(db, id, { name: `k${i}` })).key)
  })
  const { url, child } = await start(['server/main.ts'], {
    ...prepared.env,
    MODELS_FILE: writeModels(prepared, { plain: models.url, long: long.url, dying: dying.url }),
  })
  try {
    await chats(url, prepared, child, 3_000)
    const alone = await chats(url, prepared, child, MEASURED_MS)
    const before = memoryMb(child)
    let most = before
    const watching = setInterval(() => {
      most = Math.max(most, memoryMb(child))
    }, 200)
    const attacker = fork(join(import.meta.dirname, 'attacker.ts'), { stdio: 'inherit' })
    let beside: Figures
    try {
      beside = await chats(url, prepared, child, MEASURED_MS, () =>
        begin(attacker, name, { url, keys, agents }, () => dying.child.kill('SIGKILL')),
      )
    } finally {
      attacker.kill('SIGKILL')
    }
    await wait(3_000)
    clearInterval(watching)
    if (child.exitCode !== null) throw new Error(`The service has ended with ${child.exitCode}.`)
    return { name, alone, beside, memoryMb: { before, most, after: memoryMb(child) } }
  } finally {
    child.kill('SIGKILL')
    for (const each of [models, long, dying]) if (!each.child.killed) await stop(each.child)
    await prepared.remove()
  }
}

/** A real attacker and its model servers would have machines of their own, so these processes have a low priority. */
function yieldTurn({ pid }: ChildProcess): void {
  if (pid) setPriority(pid, 15)
}

function begin(attacker: ChildProcess, name: string, target: Target, killModels: () => void): Promise<void> {
  yieldTurn(attacker)
  attacker.send({ name, target })
  return new Promise((begun, fail) => {
    attacker.on('message', (said) => (said === 'begun' ? begun() : killModels()))
    attacker.on('exit', (code) => fail(new Error(`The attacker has ended with ${code}.`)))
  })
}

function writeModels({ env }: Prepared, urls: Record<string, string>): string {
  const file = join(env.DATA_DIR ?? '', 'models.json')
  const list = Object.entries(urls).map(([id, url]) => ({
    id,
    provider: 'openai-compatible',
    baseUrl: `${url}/v1`,
    apiKey: 'k',
  }))
  writeFileSync(file, JSON.stringify({ auto: 'plain', models: list }))
  return file
}

/** Runs the 16 chats and requests /health continuously. Results count from when `begun` has resolved. */
async function chats(
  url: string,
  { agentId, keys }: Prepared,
  child: ChildProcess,
  forMs: number,
  begun: () => Promise<void> = async () => {},
): Promise<Figures> {
  let used = 0
  let isOver = false
  const health: number[] = []
  const pool = new Pool(url, { connections: 1 })
  const asking = (async () => {
    for (; !isOver; await wait(20)) {
      const asked = performance.now()
      await (await pool.request({ path: '/api/v2/health', method: 'GET' })).body.dump()
      health.push(performance.now() - asked)
    }
  })()
  const make = () => ({
    path: `/api/v2/agents/${agentId}/chat`,
    headers: { authorization: `Bearer ${keys[used++ % keys.length]}`, 'content-type': 'application/json' },
    body: JSON.stringify({ message: 'How long is the warranty of the lamp?' }),
  })
  const beginning = begun()
  const until = performance.now() + forMs
  const parts: { perSecond: number; firstP95: number; failed: number }[] = []
  let turns = 0
  const since = performance.now()
  const spent = cpuMs(child)
  while (performance.now() < until) {
    const { count, firstMs, failed } = await load(url, {
      concurrency: CHATS,
      count: CHATS * 4,
      make,
      mark: 'word0',
      end: '[DONE]',
    })
    turns += count
    parts.push({ perSecond: 0, firstP95: firstMs.p95, failed })
  }
  const seconds = (performance.now() - since) / 1_000
  const cpu = Math.round((cpuMs(child) - spent) / seconds)
  await beginning
  isOver = true
  await asking
  await pool.close()
  return {
    perSecond: round(turns / seconds),
    firstP95: percentiles(parts.map(({ firstP95 }) => firstP95)).p95,
    healthWorst: round(Math.max(...health)),
    cpu,
    failed: parts.reduce((sum, { failed }) => sum + failed, 0),
  }
}

/** Returns the resident memory of the service and its children. */
const memoryMb = ({ pid }: ChildProcess): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024)

/** Writes bench/results/attack.md. */
export function attackReport(rows: { database: string; rows: Row[] }[]): string {
  const lines = rows.flatMap(({ database, rows: measured }) =>
    measured.map(({ name, alone, beside, memoryMb: { before, most, after } }) => {
      const kept = Math.round((beside.perSecond / alone.perSecond) * 100)
      const slower = round(beside.firstP95 / alone.firstP95)
      return `| ${name} | ${database} | ${alone.perSecond} | ${beside.perSecond} | ${kept} % | ${alone.firstP95} | ${beside.firstP95} | ${slower} | ${alone.healthWorst} | ${beside.healthWorst} | ${before} | ${most} | ${after} | ${beside.failed} |`
    }),
  )
  return `# Attacks beside ordinary chats

${new Date().toISOString()}, ${cpus()[0]?.model}, ${availableParallelism()} cores, Node ${process.version}; \`npm run bench attack\`.
Sixteen chats of one account, streamed answers of 100 tokens, alone and then beside each attack of another account, in
the same run. Load generator, model servers, attacker and service share the cores; the attacker and its model servers
have a low priority, since real ones would have machines of their own. Wanted: 70 % of the rate, at most twice the time to
the first token, \`/health\` under 200 ms, no failed chat.

| attack | database | turns/s alone | beside | kept | first token p95 ms alone | beside | times | /health worst ms alone | beside | MB before | most | after | failed |
| - | - | - | - | - | - | - | - | - | - | - | - | - | - |
${lines.join('\n')}
`
}
