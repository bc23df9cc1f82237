import type pg from 'pg'
import {
  DatabaseUnavailable,
  noteConnectionError,
  type Outage,
  outageOf,
  saysAway,
} from './database-errors.ts'
import { WatchedClient } from './watched-client.ts'

/** Whether the database can be asked. While it is away, every query fails at once with DatabaseUnavailable. */
export type Availability = {
  isDown(): boolean
  /** Why the database is not available; null while it is. */
  outage(): Outage | null
  /** Calls the listener at each change. Returns a function that removes the listener. */
  onChange(listener: (isDown: boolean) => void): () => void
  /** Checks the server now, because a connection outside the pool has broken. */
  look(): void
}

/** The availability of the embedded database, which runs in this process and is always available. */
export const ALWAYS_THERE: Availability = {
  isDown: () => false,
  outage: () => null,
  onChange: () => () => {},
  look: () => {},
}

type GuardedPool = {
  availability: Availability
  /** Resolves to a connection of the pool. Rejects at once with DatabaseUnavailable while none can be had. */
  connect(): Promise<pg.PoolClient>
  end(): Promise<void>
  /** Notes that a connection waits for this response. */
  watch(client: pg.PoolClient, response: Promise<unknown>): void
}

const TICK_MS = 250
/** The number of ticks for which a connection may leave a query unanswered before the server is checked. */
const QUIET_TICKS = 8
/** The number of ticks within which the server must accept a new connection and respond on it. */
const LOOK_TICKS = 12
const AWAY_REST_TICKS = 2
const TRIES = 3
const FAREWELL_MS = 1_000

/**
 * `due` is the number of statements without a response. `silent` counts the ticks since the last byte arrived, and
 * `waiting` those of them in which a response was due.
 */
type Watched = { due: number; bytes: number; silent: number; waiting: number; used: boolean }

/**
 * Watches the connections of a pool. When one breaks, cannot be opened, or leaves a query unanswered, a separate
 * connection checks whether the server responds. While the server does not, it is checked twice a second.
 *
 * Time is counted in turns of the event loop and not by the clock, so that a process that was stopped for a while
 * reads what has arrived meanwhile before it considers a connection silent.
 */
export function guardPool(pool: pg.Pool, url: string): GuardedPool {
  const clients = new Map<pg.ClientBase, Watched & { client: WatchedClient }>()
  const listeners = new Set<(isDown: boolean) => void>()
  let outage: Outage | null = null
  let looking = false
  let rest = 0
  let ended = false

  const enter = (next: Outage | null): void => {
    const changed = (outage === null) !== (next === null)
    outage = next
    if (changed) for (const listener of [...listeners]) listener(next !== null)
  }

  const clientsThat = (are: (watched: Watched) => boolean): WatchedClient[] =>
    [...clients.values()].filter(are).map(({ client }) => client)

  const look = async (): Promise<void> => {
    if (looking || ended) return
    looking = true
    const quiet = clientsThat(({ waiting }) => waiting >= QUIET_TICKS)
    const { outage: seen, lost } = await lookAtServer(
      url,
      quiet.flatMap(({ pid }) => pid ?? []),
    )
    looking = false
    if (ended) return
    // While connections are left, the service continues: the server just has no room for as many as the pool may
    // open.
    enter(seen === 'full' && clients.size > 0 ? null : seen)
    rest = outage === null ? QUIET_TICKS : AWAY_REST_TICKS
    const broken = quiet.filter(({ pid }) => pid !== null && lost.has(pid))
    if (seen === 'silent') broken.push(...clientsThat(() => true))
    // The connections that broke at the same moment without having been noticed yet.
    else if (broken.length > 0)
      broken.push(...clientsThat(({ used, silent }) => !used && silent >= QUIET_TICKS))
    for (const client of broken) client.cutOff()
  }
  const suspect = (): void => {
    if (outage === null) void look()
  }

  pool.on('connect', (client) => {
    if (!(client instanceof WatchedClient)) throw new TypeError('The pool has to be made of WatchedClients.')
    clients.set(client, { client, due: 0, bytes: 0, silent: 0, waiting: 0, used: true })
    // pg-pool listens only while a client is idle, and without a listener an error would end the process.
    client.on('error', (error) => {
      clients.delete(client)
      noteConnectionError(error)
      suspect()
    })
  })
  const use = (client: pg.ClientBase, used: boolean): void => {
    const watched = clients.get(client)
    if (watched) watched.used = used
  }
  pool.on('acquire', (client) => use(client, true))
  pool.on('release', (_error, client) => use(client, false))
  pool.on('remove', (client) => clients.delete(client))
  pool.on('error', () => {})

  const timer = setInterval(() => {
    let quiet = false
    for (const watched of clients.values()) {
      const { bytesRead } = watched.client.socket
      watched.silent = bytesRead === watched.bytes ? watched.silent + 1 : 0
      watched.waiting = watched.due > 0 && watched.silent > 0 ? watched.waiting + 1 : 0
      watched.bytes = bytesRead
      quiet ||= watched.waiting >= QUIET_TICKS
    }
    if (rest > 0) rest -= 1
    else if (outage !== null || quiet) void look()
  }, TICK_MS)
  timer.unref()

  const open = async (): Promise<pg.PoolClient> => {
    try {
      return await pool.connect()
    } catch (error) {
      noteConnectionError(error)
      suspect()
      throw error
    }
  }
  const onChange = (listener: (isDown: boolean) => void): (() => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  return {
    availability: { isDown: () => outage !== null, outage: () => outage, onChange, look: suspect },
    connect() {
      if (outage !== null) return Promise.reject(new DatabaseUnavailable(outage))
      if (pool.idleCount > 0) return open()
      return new Promise((resolve, reject) => {
        let waits = true
        const forget = onChange(() => {
          waits = false
          forget()
          reject(new DatabaseUnavailable(outage ?? 'unreachable'))
        })
        open()
          .then((client) => {
            if (waits) resolve(client)
            else client.release()
          }, reject)
          .finally(forget)
      })
    },
    watch(client, response) {
      const watched = clients.get(client)
      if (watched) watched.due++
      response
        .catch((error: unknown) => {
          if (saysAway(error)) suspect()
        })
        .finally(() => {
          if (watched) watched.due--
        })
    },
    async end() {
      // Connections in use are still watched. Idle ones say goodbye, which a silent server does not return.
      const farewell = setInterval(() => {
        for (const client of clientsThat(({ used }) => !used)) client.cutOff()
      }, FAREWELL_MS)
      await pool.end()
      ended = true
      clearInterval(farewell)
      clearInterval(timer)
    },
  }
}

type Seen = { outage: Outage | null; lost: Set<number> }

const NONE: Set<number> = new Set()

/** `lost` holds the backends that are gone or wait for a statement, although we are waiting for their response. */
async function lookAtServer(url: string, pids: number[]): Promise<Seen> {
  for (let tries = 1; ; tries++) {
    const attempt = await askServer(url, pids)
    // The connection was accepted and then terminated: an administrator is terminating connections, including ours.
    if (attempt !== 'thrown out') return attempt
    if (tries === TRIES) return { outage: 'unreachable', lost: NONE }
  }
}

async function askServer(url: string, pids: number[]): Promise<Seen | 'thrown out'> {
  const client = new WatchedClient({ connectionString: url })
  client.on('error', () => {})
  let isIn = false
  let ticks = 0
  const timer = setInterval(() => {
    if (++ticks === LOOK_TICKS) client.cutOff()
  }, TICK_MS)
  try {
    await client.connect()
    isIn = true
    const { rows } = await client.query<{ pid: number; read_only: boolean; lost: number[] }>(
      `select pg_backend_pid() as pid, current_setting('transaction_read_only') = 'on' as read_only,
        array(select number from unnest($1::int[]) as asked (number) where not exists (
          select from pg_stat_activity where pid = asked.number
            and (state = 'active' or state_change > now() - interval '2 seconds'))) as lost`,
      [pids],
    )
    const row = rows[0]
    // Behind a pooler, the process ids that clients are told are not those of backends.
    const lost = row && row.pid === client.pid ? new Set(row.lost) : NONE
    return { outage: row?.read_only ? 'read-only' : null, lost }
  } catch (error) {
    if (ticks >= LOOK_TICKS) return { outage: 'silent', lost: NONE }
    return isIn ? 'thrown out' : { outage: outageOf(error), lost: NONE }
  } finally {
    clearInterval(timer)
    client.end().catch(() => {})
    setTimeout(() => client.cutOff(), FAREWELL_MS).unref()
  }
}
