import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { Pool } from 'undici'
import { percentiles, round } from './load.ts'
import { prepare, start, startOptions, stop } from './service.ts'

const STREAMS = 2_000
const HELD_MS = 10_000

/**
 * Measures the memory of 2,000 open streams that get a token every second, in a service with the options of `npm start`,
 * and whether it still responds to /health.
 */
export async function heldScenario(server: string | null): Promise<object> {
  const models = await start(['bench/model-server.ts', '60', '1000'])
  const prepared = await prepare(server, 60)
  const { url, child } = await start([...startOptions, 'server/main.ts'], {
    ...prepared.env,
    OPENAI_BASE_URL: `${models.url}/v1`,
    OPENAI_MODEL: 'bench',
  })
  const pool = new Pool(url, { connections: STREAMS + 10 })
  const open = async (i: number): Promise<number> => {
    const { statusCode, body } = await pool.request({
      path: `/api/v2/agents/${prepared.agentId}/chat`,
      method: 'POST',
      headers: {
        authorization: `Bearer ${prepared.keys[i % prepared.keys.length]}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ message: `Question ${i}` }),
    })
    body.on('data', () => {}).on('error', () => {})
    return statusCode
  }
  const statuses: number[] = []
  const openTo = async (count: number): Promise<number> => {
    while (statuses.length < count) {
      const from = statuses.length
      statuses.push(...(await Promise.all(Array.from({ length: 200 }, (_, i) => open(from + i)))))
    }
    await wait(2_000)
    return memoryOf(child.pid)
  }
  // The first half of the streams warms the process up. The cost of a stream is what the second half adds.
  const before = await openTo(STREAMS / 2)
  const after = await openTo(STREAMS)
  const health: number[] = []
  for (const until = performance.now() + HELD_MS; performance.now() < until; await wait(20)) {
    const asked = performance.now()
    await (await pool.request({ path: '/api/v2/health', method: 'GET' })).body.dump()
    health.push(performance.now() - asked)
  }
  child.kill('SIGKILL')
  await pool.destroy()
  await stop(models.child)
  await prepared.remove()
  return {
    scenario: 'held streams',
    database: server ? 'PostgreSQL' : 'embedded',
    streams: statuses.filter((status) => status === 200).length,
    kilobytesEach: round((after - before) / (STREAMS / 2)),
    healthMs: percentiles(health),
  }
}

/** Returns the resident memory in kilobytes. */
function memoryOf(pid: number | undefined): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}
