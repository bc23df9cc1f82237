import type { AddressInfo } from 'node:net'
import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { openCommandSocket } from './admin/command-socket.ts'
import { firstRun } from './admin/first-run/first-run.ts'
import { NO_EMBEDDINGS, NONE } from './ai/catalogue/model-remedy.ts'
import { reachServers } from './ai/catalogue/reach-servers.ts'
import { createApp } from './app.ts'
import type { Context } from './context.ts'
import { duties, jobKinds } from './features.ts'
import { resumeTraining } from './knowledge/jobs.ts'
import { describeLargeAgents } from './knowledge/search/embedded-limit.ts'
import { tendSpaces } from './knowledge/vectors/fill-space.ts'
import { resumeEmptying } from './people/privacy/erasing/empty-agent.ts'
import { preparePgvector } from './platform/db/upkeep/pgvector.ts'
import { startRecurringJobs } from './platform/jobs/recurring-jobs.ts'

const DRAIN_MS = 30_000
/**
 * The length of the listen queue, which the system may limit. It has to hold a burst of connections and the regular
 * ones after it.
 */
const BACKLOG = 4_096
/** A second signal within this time counts as a copy of the first. */
const COPY_WITHIN_MS = 1_000
/** The time for the final checkpoint and for notifying the readers. */
const FAREWELL_MS = 5_000
/** How long requests that are not answers, and jobs, which other processes repeat, may take once all answers have ended. */
const REQUESTS_MS = 1_000
const JOBS_MS = 500

/** Runs the service until a signal ends it; prints its address once it accepts requests. */
export async function run(ctx: Context, role: 'api' | 'worker' | 'all'): Promise<void> {
  const { embedded, jobs, log, config } = ctx
  // By default, Node would print the error with all its properties.
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught error')
    process.exit(1)
  })
  const { promise: started, resolve: hasStarted } = Promise.withResolvers<void>()
  // A signal during startup takes effect once startup is complete, so that nothing is left half done.
  endOnSignal(() => started.then(close), log)
  const stopDuties = await startRecurringJobs(
    {
      ...ctx,
      onActivity: ctx.activity.onNote,
      onError: (error, what) => log.error({ err: error }, what),
    },
    duties(ctx, role),
  )
  const app = role === 'worker' ? null : await createApp(ctx)
  const socket = embedded ? await openCommandSocket(ctx) : null
  // Listen first, so that a port in use does not cost the key that the first run shows only once.
  if (app) await app.listen({ host: config.host, port: config.port, backlog: BACKLOG })
  const greeting = role === 'worker' ? [] : await firstRun(ctx)
  if (role !== 'api') {
    await jobs.work(jobKinds(ctx))
    await resumeEmptying(ctx)
    await resumeTraining(ctx)
  }
  const address = app ? addressOf(config.host, app.server.address() as AddressInfo) : null
  const lines = [address ? `listening on ${address}` : 'working', ...greeting]
  // Written at once, so that whoever waits for the first line also sees the rest.
  process.stdout.write(`${lines.join('\n').replaceAll('{address}', address ?? '')}\n`)
  hasStarted()
  // This is not awaited, because a server that is unreachable must not delay the start.
  void reachServers({ ...config.catalogue, embedding: ctx.models.embedding }, ctx.models.embedder).then(
    (findings) => {
      // The first run has said already which models there are none of.
      const told = greeting.length > 0 ? [NONE, NO_EMBEDDINGS] : []
      for (const finding of findings)
        if (!told.includes(finding)) log[finding.ok ? 'info' : 'warn'](finding.sentence)
    },
  )
  if (embedded) for (const sentence of await describeLargeAgents(ctx.db)) log.warn(sentence)
  // Its vectors are made at once, and not only when the recurring work comes to it.
  ctx.modelFetcher.onAdopted(
    () => void tendSpaces(ctx).catch((error) => log.error({ err: error }, 'vectors')),
  )
  if (ctx.models.embedder) {
    const lack = await preparePgvector(ctx.db)
    if (lack !== null) log.warn(lack)
  }

  async function close(): Promise<void> {
    const latest = wait(DRAIN_MS + FAREWELL_MS)
    // A job that started now would be interrupted.
    jobs.rest()
    const finished = Promise.all([stopDuties(), socket?.close()])
    const closing = app?.close()
    const drained = ctx.generations.drain(DRAIN_MS)
    await Promise.race([drained, latest])
    // Answers that wait for the database exist nowhere else. They give up after a while; a second signal ends the wait.
    if (ctx.availability.isDown()) await drained
    await Promise.race([closing, wait(REQUESTS_MS)])
    await Promise.race([finished, latest])
    // After that, remaining connections are closed and waiting recurring jobs are abandoned; other processes continue them.
    app?.server.closeAllConnections()
    await closing
    await ctx.close(JOBS_MS)
  }
}

function addressOf(host: string, { port }: AddressInfo): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/**
 * The first signal shuts the service down in order, within the time that running answers get; a second one ends it at
 * once. When a signal goes to the whole process group, npm forwards a copy of it, which does not count as the second.
 */
function endOnSignal(close: () => Promise<void>, log: Context['log']): void {
  let endsSince: number | null = null
  const end = (signal: NodeJS.Signals): void => {
    const now = performance.now()
    if (endsSince !== null && now - endsSince < COPY_WITHIN_MS) return
    if (endsSince !== null) process.exit(1)
    endsSince = now
    log.info({ signal }, 'stopping')
    close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'the shutdown failed')
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', end)
  process.on('SIGINT', end)
}
