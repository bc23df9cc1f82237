import { performance } from 'node:perf_hooks'
import { sql } from 'kysely'
import pg from 'pg'
import type { Db } from '../database.ts'
import { newId } from '../ids.ts'

const BEAT_MS = 500
/**
 * The number of consecutive successful beats of the observer without a new beat of the other process, after which
 * that is dead.
 */
const SILENT_BEATS = 5
const LONGEST_BEAT_MS = 2_000
/** After a longer gap between two beats, another process may have declared this one dead. */
const LONGEST_GAP_MS = 1_500

/**
 * This process as the others see it. Everything it owns carries its id and its epoch, and each write to it names
 * both. A process that no longer beats is declared dead by raising its epoch in the database.
 */
export type ServiceProcess = {
  readonly id: string
  readonly epoch: number
  /** Returns false after a pause, until it is known whether another process has declared this one dead. */
  isSure(): boolean
  /** Resolves when that is known, or when the database cannot be reached. */
  confirm(): Promise<void>
  /**
   * Calls `listener` with the former epoch when this process was declared dead. Everything that carries that epoch
   * may now belong to others.
   */
  onLost(listener: (formerEpoch: number) => void): void
  /** Calls `listener` after this process has declared another one dead. */
  onDeath(listener: () => void): void
  /** Releases everything that this process still owns. */
  close(): Promise<void>
}

/** Registers the only process on an embedded database. Everything that an earlier process owned is free at once. */
export async function soleProcess(db: Db): Promise<ServiceProcess> {
  const id = newId()
  await sql`with gone as (delete from processes) insert into processes (id) values (${id})`.execute(db)
  return {
    id,
    epoch: 1,
    isSure: () => true,
    confirm: async () => {},
    onLost() {},
    onDeath() {},
    close: async () => {},
  }
}

type Observed = { id: string; epoch: number; beat: string; alive: boolean; mine: boolean }

const BEAT = `
  with mine as (
    insert into processes (id, epoch) values ($1, $2)
    on conflict (id) do update set beat = processes.beat + 1, beat_at = now(), alive = true
      where processes.epoch = excluded.epoch
    returning id
  )
  select id, epoch, beat, alive, exists (select from mine) as mine from processes`
const DECLARE_DEAD = `
  update processes set epoch = epoch + 1, alive = false where id = $1 and epoch = $2 and beat = $3 and alive`

/**
 * Registers a process that beats on a separate connection, so that neither a busy pool nor a long transaction looks
 * like its death.
 */
export async function beatingProcess(
  url: string,
  onError: (error: unknown) => void,
): Promise<ServiceProcess> {
  const id = newId()
  let epoch = 1
  let client: pg.Client | null = null
  let beating: Promise<void> | null = null
  let isKnown = true
  let lastTick = performance.now()
  let failures = 0
  let closed = false
  const lost: ((formerEpoch: number) => void)[] = []
  const death: (() => void)[] = []
  /** The last beat seen of each other process, and for how many of our own beats it has not changed. */
  let seen = new Map<string, { epoch: number; beat: string; unchanged: number }>()

  const connect = async (): Promise<pg.Client> => {
    const fresh = new pg.Client({
      connectionString: url,
      keepAlive: true,
      connectionTimeoutMillis: LONGEST_BEAT_MS,
      query_timeout: LONGEST_BEAT_MS,
      application_name: 'parley process',
    })
    fresh.on('error', () => {
      if (client === fresh) client = null
    })
    await fresh.connect()
    return fresh
  }

  const observe = async (connection: pg.Client, rows: Observed[]): Promise<void> => {
    const next: typeof seen = new Map()
    for (const { id: other, epoch: itsEpoch, beat, alive } of rows) {
      if (other === id || !alive) continue
      const before = seen.get(other)
      const unchanged = before?.epoch === itsEpoch && before.beat === beat ? before.unchanged + 1 : 0
      next.set(other, { epoch: itsEpoch, beat, unchanged })
      if (unchanged < SILENT_BEATS) continue
      const { rowCount } = await connection.query(DECLARE_DEAD, [other, itsEpoch, beat])
      if (rowCount) for (const listener of death) listener()
    }
    seen = next
  }

  const tryBeat = async (): Promise<void> => {
    try {
      client ??= await connect()
      const { rows } = await client.query<Observed>({ name: 'beat', text: BEAT, values: [id, epoch] })
      failures = 0
      const own = rows.find((row) => row.id === id)
      if (rows[0] && !rows[0].mine && own && own.epoch !== epoch) {
        const former = epoch
        epoch = own.epoch
        for (const listener of lost) listener(former)
      } else await observe(client, rows)
    } catch (error) {
      // Without the database, no process can declare another one dead, and how long others were silent is no longer
      // known.
      seen = new Map()
      const broken = client
      client = null
      broken?.end().catch(() => {})
      if (failures++ === 0) onError(error)
    }
    isKnown = true
  }
  const beat = (): Promise<void> => {
    beating ??= tryBeat().finally(() => {
      beating = null
    })
    return beating
  }
  const tick = (): void => {
    const now = performance.now()
    if (now - lastTick > LONGEST_GAP_MS) {
      isKnown = false
      seen = new Map()
    }
    lastTick = now
    void beat()
  }

  client = await connect()
  await client.query(BEAT, [id, epoch])
  const timer = setInterval(tick, BEAT_MS)
  timer.unref()
  return {
    id,
    get epoch() {
      return epoch
    },
    isSure: () => isKnown && performance.now() - lastTick < LONGEST_GAP_MS,
    async confirm() {
      // A beat sent before the pause tells nothing about what happened during it.
      await beating
      tick()
      await beating
    },
    onLost: (listener) => void lost.push(listener),
    onDeath: (listener) => void death.push(listener),
    async close() {
      if (closed) return
      closed = true
      clearInterval(timer)
      await beating
      try {
        await client?.query('delete from processes where id = $1 and epoch = $2', [id, epoch])
        await client?.end()
      } catch {
        // The other processes notice it by the missing beats.
      }
    },
  }
}

/** Deletes the rows of processes that died more than an hour ago. */
export async function forgetDeadProcesses(db: Db): Promise<void> {
  await sql`delete from processes where not alive and beat_at < now() - interval '1 hour'`.execute(db)
}
