import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { after } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { openPostgres } from '../../server/platform/db/database.ts'
import { spawnService } from '../spawn-service.ts'
import type { Asked, Told } from './embedded-process.ts'
import { type Inside, insideOf } from './inside.ts'

/** One process from its start to its kill. */
export type Life = {
  url: string
  killed: boolean
  kill(): Promise<unknown>
  freeze(ms: number): Promise<void>
}

/** A place where a process runs. When it is killed, the next one starts at once. */
export type Place<L extends Life = Life> = { life(): Promise<L>; kill(): Promise<void> }

export function createPlace<L extends Life>(start: () => Promise<L>): Place<L> {
  let life = start()
  return {
    life: () => life,
    async kill() {
      const now = await life
      if (now.killed) return
      now.killed = true
      await now.kill()
      life = start()
      life.catch(() => {})
    },
  }
}

export async function startOnPostgres(env: Record<string, string>): Promise<Life> {
  const { url, kill } = await spawnService(env)
  const freeze = async (ms: number): Promise<void> => {
    // `kill` resolves only when the process has ended, so it is not awaited.
    void kill('SIGSTOP')
    await wait(ms)
    void kill('SIGCONT')
  }
  return { url, killed: false, kill: () => kill('SIGKILL'), freeze }
}

export function lookIntoPostgres(url: string): Inside & { close(): Promise<void> } {
  const { db, close } = openPostgres(url, 4)
  return { ...insideOf(db), close }
}

type Embedded = Life & { inside: Inside }

const children = new Set<ChildProcess>()
after(() => {
  for (const child of children) child.kill('SIGKILL')
})

export async function startEmbedded(env: Record<string, string>): Promise<Embedded> {
  const child = fork(join(import.meta.dirname, 'embedded-process.ts'), {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'advanced',
  })
  children.add(child)
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = await new Promise<string>((ready, fail) => {
    let output = ''
    const read = (text: Buffer): void => {
      output += text.toString()
      const address = /listening on (http:\S+)\n/.exec(output)?.[1]
      if (address) ready(address)
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('exit', (code) => fail(new Error(`the service ended with ${code}:\n${output}`)))
  })
  const ask = asker(child)
  const inside: Inside = {
    query: <Row>(...values: unknown[]) => ask('query', values) as Promise<Row[]>,
    newAccount: () => ask('newAccount', []) as ReturnType<Inside['newAccount']>,
    expireCalls: () => ask('expireCalls', []) as Promise<void>,
    reconcile: () => ask('reconcile', []) as ReturnType<Inside['reconcile']>,
  }
  const kill = (): Promise<void> => {
    child.kill('SIGKILL')
    return gone
  }
  const freeze = async (ms: number): Promise<void> => {
    child.kill('SIGSTOP')
    await wait(ms)
    child.kill('SIGCONT')
  }
  return { url, killed: false, kill, freeze, inside }
}

function asker(child: ChildProcess): (method: keyof Inside, values: unknown[]) => Promise<unknown> {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let count = 0
  child.on('message', (message: unknown) => {
    const { id, result, error } = message as Told
    const one = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) one?.resolve(result)
    else one?.reject(new Error(error))
  })
  child.once('exit', () => {
    for (const one of waiting.values()) one.reject(new Error('killed'))
  })
  return (method, values) => {
    const one = Promise.withResolvers<unknown>()
    const id = ++count
    waiting.set(id, one)
    const asked: Asked = { id, method, values }
    child.send(asked, (error) => error && one.reject(error))
    return one.promise
  }
}

/**
 * Performs inside operations through the process that runs at the place. An operation that dies with its process is
 * repeated.
 */
export function lookIntoPlace(life: () => Promise<Embedded>): Inside {
  const again = async <T>(ask: (inside: Inside) => Promise<T>): Promise<T> => {
    for (;;) {
      const now = await life()
      try {
        return await ask(now.inside)
      } catch (error) {
        if (!now.killed) throw error
        await wait(20)
      }
    }
  }
  return {
    query: (text, values) => again((inside) => inside.query(text, values)),
    newAccount: () => again((inside) => inside.newAccount()),
    expireCalls: () => again((inside) => inside.expireCalls()),
    reconcile: () => again((inside) => inside.reconcile()),
  }
}
