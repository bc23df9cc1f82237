import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { DatabaseUnavailable } from './connections/database-errors.ts'
import { WatchedClient } from './connections/watched-client.ts'
import type { Db } from './database.ts'
import { afterCommit } from './statements/transact.ts'

/** The channels on which processes notify each other; a notice carries the id of what it is about. */
type Notice = 'stop' | 'helpdesk' | 'job'

/**
 * Notifies the other processes of this database. A notice is only a hint and may be lost when a connection breaks:
 * the state itself is in rows, and code that waits for a notice also polls them.
 */
export type Notifier = {
  on(notice: Notice, listener: (id: string) => void): () => void
  /**
   * Publishes a notice. Inside a transaction the notice is sent at the commit. Outside of one it never rejects: what it
   * tells of is committed already, and the notice may be lost.
   */
  publish(db: Db, notice: Notice, id: string): Promise<void>
  /** Calls the listener when notices may have been missed, because the connection broke and has been restored. */
  onGap(listener: () => void): () => void
  close(): Promise<void>
}

type Listeners = Map<Notice, Set<(id: string) => void>>

/** Notifies listeners directly, since the embedded database has only one process. */
export function localNotifier(): Notifier {
  const listeners: Listeners = new Map()
  return {
    on: (notice, listener) => add(listeners, notice, listener),
    publish: (db, notice, id) =>
      afterCommit(db, () => void setImmediate(() => deliver(listeners, notice, id))),
    onGap: () => () => {},
    close: async () => {},
  }
}

const CHANNEL = 'parley'
const MAX_WAIT_MS = 1_000
/** A connection that only listens would not notice that the other end is gone, so it is checked this often. */
const ASK_MS = 5_000
const FAREWELL_MS = 1_000

/** Uses LISTEN and NOTIFY on a separate connection, which is reopened when it breaks. */
export function postgresNotifier(url: string, onError: (error: unknown) => void): Notifier {
  const listeners: Listeners = new Map()
  const gapListeners = new Set<() => void>()
  let client: WatchedClient | null = null
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let failures = 0

  const connect = async (): Promise<void> => {
    if (closed) return
    const fresh = new WatchedClient({
      connectionString: url,
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
    })
    client = fresh
    let asking: NodeJS.Timeout | undefined
    const again = (error: unknown): void => {
      clearInterval(asking)
      if (closed || client !== fresh) return
      client = null
      fresh.cutOff()
      if (failures++ === 0) onError(error)
      timer = setTimeout(connect, Math.min(MAX_WAIT_MS, 100 * 2 ** failures))
    }
    fresh.on('error', again)
    fresh.on('end', () => again(new Error('The connection for notices has ended.')))
    fresh.on('notification', ({ payload = '' }) => {
      const [notice, id] = payload.split(' ')
      if (id) deliver(listeners, notice as Notice, id)
    })
    try {
      await fresh.connect()
      await fresh.query(`listen ${CHANNEL}`)
      asking = askAgainAndAgain(fresh, again)
      if (failures > 0) for (const listener of [...gapListeners]) listener()
      failures = 0
    } catch (error) {
      again(error)
    }
  }
  const connected = connect()
  return {
    on: (notice, listener) => add(listeners, notice, listener),
    async publish(db, notice, id) {
      const publishing = sql`select pg_notify(${CHANNEL}, ${`${notice} ${id}`})`.execute(db)
      if (db.isTransaction) await publishing
      else await publishing.catch((error: unknown) => isAwayAlready(error) || onError(error))
    },
    onGap(listener) {
      gapListeners.add(listener)
      return () => gapListeners.delete(listener)
    },
    async close() {
      closed = true
      clearTimeout(timer)
      await connected
      if (client) await Promise.race([client.end(), wait(FAREWELL_MS)]).catch(() => {})
    },
  }
}

/** The absence of the database is reported once, where it is noticed. */
const isAwayAlready = (error: unknown): boolean => error instanceof DatabaseUnavailable

function askAgainAndAgain(client: WatchedClient, onSilence: (error: Error) => void): NodeJS.Timeout {
  let answered = true
  return setInterval(() => {
    if (!answered) return onSilence(new Error('The connection for notices stays silent.'))
    answered = false
    client.query('select 1').then(
      () => {
        answered = true
      },
      () => {},
    )
  }, ASK_MS)
}

function add(listeners: Listeners, notice: Notice, listener: (id: string) => void): () => void {
  const known = listeners.get(notice) ?? new Set()
  listeners.set(notice, known.add(listener))
  return () => known.delete(listener)
}

function deliver(listeners: Listeners, notice: Notice, id: string): void {
  for (const listener of [...(listeners.get(notice) ?? [])]) listener(id)
}
