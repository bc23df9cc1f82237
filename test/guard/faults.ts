import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { plainScript } from '../conversation-model/commands.ts'
import { startSilentProxy } from '../faults/silent-proxy.ts'
import { ask, isFinal, newTurn, paced, startTalkers, type Turn } from '../faults/talkers.ts'
import { type Cluster, startCluster } from '../postgres-cluster.ts'
import { until } from '../until.ts'
import type { Section } from './figures.ts'
import { type GuardedWorld, inGuardedWorld } from './guarded-world.ts'
import { addRules, checkLedger } from './kills.ts'
import { countTurns, readStored } from './stored-turns.ts'

const TALKERS = 16
const CONNECTIONS = 60
const AWAY_MS = 5_000
const SLOW_MS = 100
const PATIENCE_MS = 30_000

type Proxy = Awaited<ReturnType<typeof startSilentProxy>>
type Fault = (at: { cluster: Cluster; proxy: Proxy; world: GuardedWorld }) => Promise<void>

const FAULTS: Record<string, Fault> = {
  'restarted gracefully': ({ cluster }) => cluster.restart('fast'),
  'restarted at once': ({ cluster }) => cluster.restart('immediate'),
  'sessions ended': async ({ cluster }) => {
    for (let i = 0; i < 20; i++) {
      await cluster.terminateSessions()
      await wait(200)
    }
  },
  'paused for 5 s': async ({ cluster }) => {
    cluster.freeze()
    await wait(AWAY_MS)
    cluster.thaw()
  },
  'connections exhausted': async ({ cluster }) => {
    const release = await takeConnections(cluster)
    await wait(AWAY_MS)
    await release()
  },
  'messages locked': async ({ world }) => {
    const client = new pg.Client({ connectionString: world.databaseUrl ?? '' })
    await client.connect()
    await client.query('begin; lock table messages in access exclusive mode')
    await wait(AWAY_MS)
    await client.end()
  },
  'read-only': async ({ cluster }) => {
    const set = async (value: 'on' | 'off'): Promise<void> => {
      await cluster.query(`alter system set default_transaction_read_only = ${value}`)
      await cluster.query('select pg_reload_conf()')
    }
    await set('on')
    await wait(AWAY_MS)
    await set('off')
  },
  slow: async ({ proxy }) => {
    proxy.slowDown(SLOW_MS)
    await wait(AWAY_MS)
    proxy.slowDown(0)
  },
  'pool disconnected': async ({ proxy }) => {
    for (let i = 0; i < 5; i++) {
      proxy.cut()
      await wait(500)
    }
  },
  'listener dropped': async ({ cluster }) => {
    for (let i = 0; i < 5; i++) {
      await cluster.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and query ilike 'listen %'`,
      )
      await wait(500)
    }
  },
}

/** Lets people chat through each fault of the database. */
export async function checkFaults(bin: string, wanted: (fault: string) => boolean): Promise<Section> {
  const section: Section = { figures: {}, broken: [], stories: [] }
  const settings = { max_connections: CONNECTIONS }
  for (const [name, fault] of Object.entries(FAULTS)) {
    if (!wanted(name)) continue
    const cluster = await startCluster(bin, settings)
    await during(section, name, cluster, fault).finally(() => cluster.remove())
  }
  if (wanted('disk full')) await onSmallDisk(section, bin, settings)
  return section
}

async function during(section: Section, name: string, cluster: Cluster, fault: Fault): Promise<void> {
  const proxy = await startSilentProxy(cluster.url)
  // Another process has to notice without a notice what this one does.
  const processes = name === 'listener dropped' ? 2 : 1
  await inGuardedWorld({ cluster, processes, reach: proxy.through }, async (world) => {
    const health = watchHealth(world)
    const talkers = startTalkers(TALKERS, paced(world))
    await until('the first answers', () => talkers.answered() >= TALKERS)
    await fault({ cluster, proxy, world })
    const over = performance.now()
    const probe = await recovered(world)
    const recovery = performance.now() - over
    const before = talkers.answered()
    await until('answers after the fault', () => talkers.answered() >= before + 8)
    await talkers.end(PATIENCE_MS).catch((error: Error) => section.stories.push(error.message))
    const turns = [...talkers.talks.flatMap((talk) => talk.turns), probe]
    const isAlive = world.services.every((service) => service.isAlive())
    if (!isAlive) section.broken.push(`${name}: a process has ended`)
    const slowest = await health()
    const counted = countTurns(world, turns, await readStored(world))
    const ledger = await checkLedger(world, turns, section)
    const title = `database ${name}`
    addRules(section, title, counted)
    Object.assign(section.figures, {
      [`${title}: process alive / ledger balanced`]: `${isAlive ? 'yes' : 'no'} / ${ledger}`,
      [`${title}: recovery ms`]: Math.round(recovery),
      [`${title}: worst request ms`]: Math.round(Math.max(...turns.flatMap(waitsIn))),
      [`${title}: health max ms`]: Math.round(slowest),
    })
  }).finally(() => proxy.close())
}

/** How long a sender waited for the first word, or for the refusal. */
const waitsIn = ({ attempts }: Turn): number[] =>
  attempts.map(({ begun, ended, shown }) => (shown[0]?.at ?? ended) - begun)

/** Asks until a new customer gets a complete answer. */
async function recovered(world: GuardedWorld): Promise<Turn> {
  const turn = newTurn(0, 0)
  world.models.expect(turn.question, { ...plainScript, words: 2 })
  const target = { ...world, urlOf: (place: number) => world.services[place]?.url ?? '' }
  for (;;) {
    if (isFinal(await ask(target, 0, 0, turn, null, AbortSignal.timeout(PATIENCE_MS)))) return turn
    await wait(20)
  }
}

/** Asks for the health of the first process all the time; the result ends that and returns the longest wait. */
function watchHealth(world: GuardedWorld): () => Promise<number> {
  let isOver = false
  let longest = 0
  const watching = (async () => {
    for (; !isOver; await wait(50)) {
      const begun = performance.now()
      await world.request('GET', '/api/v2/health').catch(() => {})
      longest = Math.max(longest, performance.now() - begun)
    }
  })()
  return async () => {
    isOver = true
    await watching
    return longest
  }
}

/** Takes all connections but two from the service. Returns a function that releases them. */
async function takeConnections(cluster: Cluster): Promise<() => Promise<void>> {
  const taken: pg.Client[] = []
  while (taken.length < CONNECTIONS - 2) {
    const client = new pg.Client({ connectionString: cluster.url, application_name: 'taken' })
    client.on('error', () => {})
    try {
      await client.connect()
      taken.push(client)
    } catch {
      await taken[0]?.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and application_name <> 'taken'`,
      )
    }
  }
  return async () => {
    await Promise.all(taken.map((client) => client.end()))
  }
}

const DISK = '400m'
const PIECE = Buffer.alloc(1_048_576)

async function onSmallDisk(section: Section, bin: string, settings: Record<string, number>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK}`, 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    rmSync(folder, { recursive: true })
    section.figures['database disk full'] = 'skipped: only root can mount a small disk'
    return
  }
  const before = process.env.TMPDIR
  process.env.TMPDIR = folder
  const cluster = await startCluster(bin, { ...settings, max_wal_size: '64MB', min_wal_size: '32MB' })
  if (before === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = before
  try {
    await cluster.query('create table filler (text text)')
    await during(section, 'disk full', cluster, async () => {
      const file = join(folder, 'full')
      for (const piece of [PIECE, PIECE.subarray(0, 4_096)]) fill(file, piece)
      // The server has room in the files that it has begun.
      await useUp(cluster)
      await wait(AWAY_MS)
      rmSync(file)
      // Without room for its log, the server itself may have ended.
      await cluster.query('select 1').catch(() => cluster.start())
    })
    section.figures['database disk full: refusals of the server'] =
      cluster.log().split('No space left on device').length - 1
  } finally {
    await cluster.remove()
    execFileSync('umount', ['-l', folder])
    rmSync(folder, { recursive: true })
  }
}

/** Fills what the server holds of the disk already: first the files of tables, and then those of its log. */
async function useUp(cluster: Cluster): Promise<void> {
  for (const work of [
    `insert into filler select repeat('x', 1000) from generate_series(1, 1000)`,
    `select pg_logical_emit_message(false, 'filler', repeat('x', 1000000))`,
  ]) {
    try {
      for (;;) await cluster.query(work)
    } catch {
      // There is no room left.
    }
  }
}

function fill(file: string, piece: Buffer): void {
  try {
    for (;;) appendFileSync(file, piece)
  } catch {
    // The disk is full.
  }
}
