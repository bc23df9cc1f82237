import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { createApp } from './app.ts'
import type { Context } from './context.ts'
import { firstRun } from './first-run.ts'
import { keepHouse } from './housekeeping.ts'
import { resumeMoves, resumeTraining } from './knowledge/tasks.ts'
import { openCommandSocket } from './operations/command-socket.ts'
import { tasks } from './worker.ts'

const DRAIN_MS = 30_000
/** For the last checkpoint, and for telling the readers. */
const FAREWELL_MS = 5_000

/** Runs the service until a signal ends it; prints its address when it is ready to answer. */
export async function run(ctx: Context, role: 'api' | 'worker' | 'all'): Promise<void> {
  const { embedded, jobs, log, config } = ctx
  await jobs.prepare(tasks(ctx))
  const stopHousekeeping = await keepHouse(ctx)
  const app = role === 'worker' ? null : await createApp(ctx)
  const socket = embedded ? await openCommandSocket(ctx) : null
  // First, so that a port in use does not cost the key that the first run shows only once.
  if (app) await app.listen({ host: config.host, port: config.port })
  const greeting = role === 'worker' ? [] : await firstRun(ctx)
  if (role !== 'api') {
    await jobs.work(tasks(ctx))
    await resumeTraining(ctx)
    await resumeMoves(ctx)
  }
  const address = app ? addressOf(config.host, app.server.address() as AddressInfo) : null
  const lines = [address ? `listening on ${address}` : 'working', ...greeting]
  // In one piece: whoever waits for the first line sees the rest, too.
  process.stdout.write(`${lines.join('\n').replaceAll('{address}', address ?? '')}\n`)

  const close = async (): Promise<void> => {
    const idle = stopHousekeeping()
    const closing = app?.close()
    const finished = Promise.all([socket?.close(), closing, ctx.generations.drain(DRAIN_MS), idle])
    await Promise.race([finished, wait(DRAIN_MS + FAREWELL_MS)])
    // Whoever still sends or reads after that is cut off, and a duty that still waits is left: others take it up.
    app?.server.closeAllConnections()
    await closing
    await ctx.close()
  }
  endOnSignal(close, log)
}

function addressOf(host: string, { port }: AddressInfo): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** The first signal ends it in order, within the time that running answers get; the second at once. */
function endOnSignal(close: () => Promise<void>, log: Context['log']): void {
  let ending = false
  const end = (signal: NodeJS.Signals): void => {
    if (ending) process.exit(1)
    ending = true
    log.info({ signal }, 'stopping')
    close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'not stopped in order')
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', end)
  process.on('SIGINT', end)
}
