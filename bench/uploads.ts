import { type ChildProcess, fork } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Agent, FormData, fetch, Pool } from 'undici'
import { percentiles, round } from './load.ts'
import { prepare, start, startOptions } from './service.ts'

const MB = 1_048_576
const UPLOADS = 500
/** The rate limit of a key is 100 requests in ten seconds. */
const KEYS = 20
/** How long /health is watched after the last upload, while the documents are trained. */
const AFTER_MS = 30_000

type Order = { url: string; agentId: string; keys: string[] }

/** Sends all uploads at once from a process of its own, whose main thread must not delay the requests to /health. */
if (process.argv[2] === 'send') {
  process.once('message', (order: Order) => {
    void sendAll(order).then((done) => {
      process.send?.(done)
      process.disconnect()
    })
  })
}

async function sendAll({ url, agentId, keys }: Order) {
  const words = 'The parcel of the customer is delivered within three days of the order being paid. '
  const text = words.repeat(Math.ceil(MB / words.length)).slice(0, MB)
  const dispatcher = new Agent({ connections: UPLOADS, headersTimeout: 0, bodyTimeout: 0 })
  const statuses: Record<string, number> = {}
  const begun = performance.now()
  await Promise.all(
    Array.from({ length: UPLOADS }, async (_, i) => {
      const body = new FormData()
      body.set('name', `Document ${i}`)
      body.set('file', new Blob([`Document ${i}\n\n${text}`]), `document-${i}.txt`)
      const headers = { authorization: `Bearer ${keys[i % keys.length]}` }
      const init = { method: 'POST', headers, body, dispatcher }
      const status = await fetch(`${url}/api/v2/agents/${agentId}/sources`, init).then(
        async (response) => {
          await response.text()
          return response.status
        },
        (error: Error) => String(error.cause ?? error),
      )
      statuses[status] = (statuses[status] ?? 0) + 1
    }),
  )
  return { statuses, seconds: round((performance.now() - begun) / 1_000) }
}

/** 500 uploads of 1 MB at once to one agent, and how long /health takes meanwhile and while they are trained. */
export async function uploadsScenario(server: string | null): Promise<object> {
  const prepared = await prepare(server, KEYS)
  const { url, child } = await start([...startOptions, 'server/main.ts'], prepared.env)
  const pool = new Pool(url, { connections: 1 })
  let isOver = false
  const watch = async (): Promise<number[]> => {
    const took: number[] = []
    for (; !isOver; await wait(20)) {
      const asked = performance.now()
      // As a load balancer asks: on a connection of its own.
      await (await pool.request({ path: '/health', method: 'GET', reset: true })).body.dump()
      took.push(performance.now() - asked)
    }
    return took
  }
  try {
    await wait(3_000)
    const sender = fork(fileURLToPath(import.meta.url), ['send'])
    const watching = watch()
    const done = await resultOf(sender, { url, agentId: prepared.agentId, keys: prepared.keys })
    isOver = true
    const during = await watching
    isOver = false
    const afterwards = watch()
    await wait(AFTER_MS)
    isOver = true
    return {
      scenario: '500 uploads of 1 MB at once',
      database: server ? 'PostgreSQL' : 'embedded',
      ...done,
      healthMs: { ...percentiles(during), worst: round(Math.max(...during)) },
      healthMsInTraining: { worst: round(Math.max(...(await afterwards))) },
    }
  } finally {
    isOver = true
    child.removeAllListeners('exit')
    child.kill('SIGKILL')
    await pool.destroy()
    await prepared.remove()
  }
}

function resultOf(sender: ChildProcess, order: Order): Promise<object> {
  sender.send(order)
  return new Promise((resolve, fail) => {
    sender.once('message', (said) => resolve(said as object))
    sender.once('exit', (code) => fail(new Error(`The sender has ended with ${code}.`)))
  })
}
