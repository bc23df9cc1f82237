import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKey } from '../../server/accounts/keys/keys.ts'
import { createAccount } from '../../server/accounts/records/accounts.ts'
import { createAgent } from '../../server/agents/records/create-agent.ts'
import { openEmbedded, openPostgres } from '../../server/platform/db/database.ts'
import { type ScriptedModel, startScriptedModel } from '../conversation-model/scripted-model.ts'
import { newHome, type Running, spawnService } from '../spawn-service.ts'

/** With FAULTS=long, faults last as long and occur as often as in the tests before a release. */
export const isLong = process.env.FAULTS === 'long'

export type FaultWorld = {
  models: ScriptedModel
  services: Running[]
  agentId: string
  accountId: string
  keys: string[]
  /** The environment of an operator's commands, which reach the database directly. */
  env: Record<string, string>
  databaseUrl: string | null
  /** Restarts the process at a place when it has ended. */
  start(place: number): Promise<void>
  /** Aborts when the world is closed, so that nobody continues to chat. */
  closed: AbortSignal
  /** Returns the output of all processes, including those that have ended. */
  output(): string
  close(): Promise<void>
}

type Wanted = {
  processes?: number
  embedded?: boolean
  /** The server on which the database is created. The default is the one under test. */
  server?: string
  /** Returns the database URL for the service, given the real one. */
  reach?: (url: string) => string
  env?: Record<string, string>
  /** Returns the Node flags for a process. */
  flags?: (place: number) => string[]
}

const KEYS = 32

/** Runs a test in its own world, which is closed at the end, whatever happens. */
export async function inFaultWorld(
  wanted: Wanted,
  work: (world: FaultWorld) => Promise<unknown>,
): Promise<void> {
  const world = await openFaultWorld(wanted)
  try {
    await work(world)
  } finally {
    await world.close()
  }
}

/**
 * Starts service processes on a new database with an account and an agent, and a model server that keeps its own
 * record.
 */
async function openFaultWorld(wanted: Wanted = {}): Promise<FaultWorld> {
  const { processes = 1, embedded = false, server, reach = (url) => url, flags = () => [] } = wanted
  const models = await startScriptedModel()
  const home = await newHome({ embedded, ...(server ? { server } : {}) })
  const { DATABASE_URL: databaseUrl = null } = home.env
  const { accountId, agentId, keys } = await fill(databaseUrl, home.folder)
  const modelsFile = join(home.folder, 'models.json')
  const model = { id: 'fake', provider: 'openai-compatible', baseUrl: `${models.url}/v1`, apiKey: 'k' }
  writeFileSync(modelsFile, JSON.stringify({ auto: 'fake', models: [model] }))
  const env: Record<string, string> = { ...home.env, MODELS_FILE: modelsFile, ...wanted.env }
  const served = { ...env, ...(databaseUrl ? { DATABASE_URL: reach(databaseUrl) } : {}) }
  const all: Running[] = []
  const services: Running[] = []
  const closing = new AbortController()
  const start = async (place: number): Promise<void> => {
    const service = await spawnService(served, flags(place))
    all.push(service)
    services[place] = service
  }
  for (let place = 0; place < processes; place++) await start(place)
  return {
    models,
    services,
    agentId,
    accountId,
    keys,
    env,
    databaseUrl,
    start,
    closed: closing.signal,
    output: () => all.map(({ output }) => output).join('\n'),
    async close() {
      closing.abort()
      for (const service of all) await service.kill('SIGKILL')
      await models.close()
      await home.remove()
    },
  }
}

async function fill(url: string | null, folder: string) {
  const database = url ? openPostgres(url, 2) : await openEmbedded(folder)
  const accountId = await createAccount(database.db, 'Faults')
  const account = { id: accountId, plan: 'unlimited' }
  const agentId = await createAgent(database.db, account, 'faults', { name: 'Faults' })
  const keys: string[] = []
  for (let i = 0; i < KEYS; i++) keys.push((await createKey(database.db, accountId, { name: `k${i}` })).key)
  await database.close()
  return { accountId, agentId, keys }
}
