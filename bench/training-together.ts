import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { createAgent } from '../server/agents/records/create-agent.ts'
import { round } from './load.ts'
import { prepare, start, stop } from './service.ts'

type TrainingTogetherResult = {
  scenario: 'training-together'
  database: string
  processes: number
  agents: number
  sourcesEach: number
  plan: string
  /** The time from the first upload until the last source is live or has failed. */
  seconds: number
  failed: number
  deadlocks: number
  /** The longest time that a change of a trained source's name took meanwhile. */
  longestPutMs: number
  /** The longest time that reading it took, which is the cost of the load alone. */
  longestGetMs: number
}

type Case = { agents: number; sourcesEach: number; processes: number }

const PATIENCE_MS = 300_000
const KEYS = 60
/** The plan has a limit of the training size, which uploads must observe. */
const PLAN = 'pro'

/** Uploads small texts to many agents at once, while a live source is renamed repeatedly. */
async function trainingTogether(
  server: string | null,
  { agents, sourcesEach, processes }: Case,
): Promise<TrainingTogetherResult> {
  const agentIds: string[] = []
  const prepared = await prepare(server, KEYS, async (db, { accountId }) => {
    for (let i = 0; i < agents; i++)
      agentIds.push(await createAgent(db, { id: accountId, plan: 'unlimited' }, 'bench', { name: `a${i}` }))
    await db.updateTable('accounts').set({ plan: PLAN }).where('id', '=', accountId).execute()
  })
  const running: Awaited<ReturnType<typeof start>>[] = []
  const deadlocks = async (): Promise<number> => {
    if (!prepared.env.DATABASE_URL) return 0
    const client = new pg.Client({ connectionString: prepared.env.DATABASE_URL })
    await client.connect()
    await wait(1_500)
    const { rows } = await client.query(
      'select deadlocks::int as n from pg_stat_database where datname = current_database()',
    )
    await client.end()
    return rows[0].n
  }
  try {
    for (let i = 0; i < processes; i++) running.push(await start(['server/main.ts'], prepared.env))
    const urls = running.map(({ url }) => url)
    let calls = 0
    const call = async (method: string, path: string, body?: object) => {
      calls++
      const key = prepared.keys[calls % KEYS]
      const response = await fetch(`${urls[calls % urls.length]}/api/v2${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(body ? { 'content-type': 'application/json' } : {}) },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      // biome-ignore lint/suspicious/noExplicitAny: answers of several shapes
      const answer: any = await response.json()
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
      return answer
    }
    const upload = (agentId: string, i: number) =>
      call('POST', `/agents/${agentId}/sources`, {
        type: 'text',
        name: `Text ${i}`,
        content: `Parcel ${i} is delivered within ${i} days. Returns of parcel ${i} are free.`,
      })
    const { id: first } = await upload(agentIds[0]!, 0)
    const client = prepared.env.DATABASE_URL
      ? new pg.Client({ connectionString: prepared.env.DATABASE_URL })
      : null
    await client?.connect()
    const left = async (): Promise<{ waiting: number; failed: number }> => {
      if (client) {
        const { rows } = await client.query(
          `select count(*) filter (where status in ('untrained','updated'))::int as waiting,
             count(*) filter (where status = 'failed')::int as failed from sources`,
        )
        return rows[0]
      }
      let waiting = 0
      let failed = 0
      for (const id of agentIds) {
        const page = await call('GET', `/agents/${id}/sources?limit=100`)
        for (const { status } of page.data) {
          if (status === 'failed') failed++
          else if (status !== 'trained') waiting++
        }
      }
      return { waiting, failed }
    }
    while ((await left()).waiting > 0) await wait(50)
    const before = await deadlocks()
    let isOver = false
    let longestPutMs = 0
    let longestGetMs = 0
    const putting = (async () => {
      for (let i = 0; !isOver; i++) {
        const begun = performance.now()
        await call('PUT', `/agents/${agentIds[0]}/sources/${first}`, { name: `Name ${i}` })
        longestPutMs = Math.max(longestPutMs, performance.now() - begun)
        await wait(100)
      }
    })()
    const reading = (async () => {
      while (!isOver) {
        const asked = performance.now()
        await call('GET', `/agents/${agentIds[0]}/sources/${first}`)
        longestGetMs = Math.max(longestGetMs, performance.now() - asked)
        await wait(100)
      }
    })()
    const begun = performance.now()
    await Promise.all(
      agentIds.flatMap((id) => Array.from({ length: sourcesEach }, (_, i) => upload(id, i + 1))),
    )
    let state = await left()
    while (state.waiting > 0 && performance.now() - begun < PATIENCE_MS) {
      await wait(50)
      state = await left()
    }
    const seconds = (performance.now() - begun) / 1_000
    isOver = true
    await Promise.all([putting, reading])
    await client?.end()
    return {
      scenario: 'training-together',
      database: server ? 'PostgreSQL' : 'embedded',
      processes,
      agents,
      sourcesEach,
      plan: PLAN,
      seconds: round(seconds),
      failed: state.failed,
      deadlocks: (await deadlocks()) - before,
      longestPutMs: Math.round(longestPutMs),
      longestGetMs: Math.round(longestGetMs),
    }
  } finally {
    await Promise.all(running.map(({ child }) => stop(child)))
    await prepared.remove()
  }
}

const [, , database, agents, sourcesEach, processes] = process.argv
console.log(
  await trainingTogether(database === 'embedded' ? null : (database ?? ''), {
    agents: Number(agents),
    sourcesEach: Number(sourcesEach),
    processes: Number(processes),
  }),
)
