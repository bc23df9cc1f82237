import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { Pool } from 'undici'
import { cpuMs, prepare, start } from './service.ts'

const FOLLOWERS = 1_000
const MEASURED_MS = 20_000

/** Measures the cost of 1,000 visitors' connections that follow a conversation in which nothing happens. */
export async function followersScenario(server: string | null): Promise<object> {
  const prepared = await prepare(server, 1)
  const { url, child } = await start(['server/main.ts'], { ...prepared.env, TRUSTED_PROXIES: '127.0.0.1' })
  const pool = new Pool(url, { connections: FOLLOWERS + 10 })
  const change = { visibility: 'public', ipRateLimits: { limit: 200, timeframe: 1 } }
  const key = { authorization: `Bearer ${prepared.keys[0]}`, 'content-type': 'application/json' }
  const agent = `/api/v2/agents/${prepared.agentId}`
  await (
    await pool.request({ path: agent, method: 'PUT', headers: key, body: JSON.stringify(change) })
  ).body.dump()

  const statuses = new Map<number, number>()
  const follow = async (i: number): Promise<void> => {
    const base = `/api/widget/agents/${prepared.agentId}`
    const headers = {
      authorization: `Bearer ${randomBytes(32).toString('base64url')}`,
      'content-type': 'application/json',
      'x-forwarded-for': `198.51.100.${i % 250}`,
    }
    const body = JSON.stringify({ messageId: randomUUID(), message: `Question ${i}` })
    const written = await pool.request({ path: `${base}/messages`, method: 'POST', headers, body })
    const { data } = (await written.body.json()) as { data: { conversationId: string } }
    const path = `${base}/conversations/${data.conversationId}/events`
    const events = await pool.request({ path, method: 'GET', headers })
    events.body.on('data', () => {}).on('error', () => {})
    statuses.set(events.statusCode, (statuses.get(events.statusCode) ?? 0) + 1)
  }
  const memoryBefore = memoryOf(child.pid)
  for (let from = 0; from < FOLLOWERS; from += 50)
    await Promise.all(Array.from({ length: 50 }, (_, i) => follow(from + i)))
  await wait(5_000)
  const cpuBefore = cpuMs(child)
  await wait(MEASURED_MS)
  const cpu = cpuMs(child) - cpuBefore
  const memory = memoryOf(child.pid)
  child.kill('SIGKILL')
  await pool.destroy()
  await prepared.remove()
  return {
    scenario: 'visitors who follow a conversation',
    database: server ? 'PostgreSQL' : 'embedded',
    followers: Object.fromEntries(statuses),
    shareOfACore: Math.round((cpu / MEASURED_MS) * 10_000) / 10_000,
    kilobytesEachWithTheirAnswers: Math.round((memory - memoryBefore) / 1_024 / FOLLOWERS),
  }
}

const memoryOf = (pid: number | undefined): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1_024
