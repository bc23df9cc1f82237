import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
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
/**
 * The same for a process that has no connection for beats, as after a kill: the server releases the lock of a
 * connection that was closed. It is as long as MAX_GAP_MS, because a living process may have lost its connection.
 */
const SILENT_BEATS_UNCONNECTED = 3
const MAX_BEAT_MS = 2_000
/** After a longer gap between two beats, another process may have declared this one dead. */
const MAX_GAP_MS = 1_500

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
  await sql`with gone as (delete from processes) insert into processes (id, knows_left_out) values (${id}, true)`.execute(
    db,
  )
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
    insert into processes (id, epoch, knows_left_out) values ($1, $2, true)
    on conflict (id) do update set beat = processes.beat + 1, beat_at = now(), alive = true
      where processes.epoch = excluded.epoch
    returning id
  )
  select id, epoch, beat, alive, exists (select from mine) as mine from processes`
/** The first key of the locks that connections for beats hold: an arbitrary number, the same in every process. */
const CONNECTED_LOCK = 1_885_434_468
const HOLD_LOCK = `select pg_advisory_lock_shared(${CONNECTED_LOCK}, hashtext($1))`
const IS_CONNECTED = `exists (select from pg_locks where locktype = 'advisory' and classid = ${CONNECTED_LOCK}::oid
  and objid = hashtext(processes.id::text)::oid and objsubid = 2
  and database = (select oid from pg_database where datname = current_database()))`
const DECLARE_DEAD = `
  update processes set epoch = epoch + 1, alive = false
  where id = $1 and epoch = $2 and beat = $3 and alive and ($4 or not ${IS_CONNECTED})`
const HAS_UNCONNECTED = `select from processes where id <> $1 and alive and not ${IS_CONNECTED} limit 1`

/** A connection for beats; `gaps` is how many pauses of this process had been noticed when its last beat was sent. */
type Line = { client: pg.Client | null; beating: Promise<void> | null; gaps: number }

const newLine = (): Line => ({ client: null, beating: null, gaps: 0 })

/**
 * Registers a process that beats on a separate connection, so that neither a busy pool nor a long transaction looks
 * like its death. A beat that is still unanswered when the next one is due does not hold that back: it is sent on a
 * second connection, because the first one may be lost without either side having been told.
 */
export async function beatingProcess(
  url: string,
  onError: (error: unknown) => void,
): Promise<ServiceProcess> {
  const id = newId()
  const lines = [newLine(), newLine()]
  let epoch = 1
  let gaps = 0
  let isKnown = true
  let lastTick = performance.now()
  let answers = 0
  let failures = 0
  let closed = false
  const lost: ((formerEpoch: number) => void)[] = []
  const death: (() => void)[] = []
  /** The last beat seen of each other process, and for how many of our own beats it has not changed. */
  let seen = new Map<string, { epoch: number; beat: string; unchanged: number }>()

  const connect = async (line: Line): Promise<pg.Client> => {
    const fresh = new pg.Client({
      connectionString: url,
      keepAlive: true,
      connectionTimeoutMillis: MAX_BEAT_MS,
      query_timeout: MAX_BEAT_MS,
      application_name: 'parley process',
    })
    fresh.on('error', () => {
      if (line.client === fresh) line.client = null
    })
    await fresh.connect()
    await fresh.query(HOLD_LOCK, [id])
    line.client = fresh
    return fresh
  }
  const disconnect = (line: Line): void => {
    line.client?.end().catch(() => {})
    line.client = null
  }

  const observe = async (connection: pg.Client, rows: Observed[]): Promise<void> => {
    const next: typeof seen = new Map()
    for (const { id: other, epoch: itsEpoch, beat, alive } of rows) {
      if (other === id || !alive) continue
      const before = seen.get(other)
      const unchanged = before?.epoch === itsEpoch && before.beat === beat ? before.unchanged + 1 : 0
      next.set(other, { epoch: itsEpoch, beat, unchanged })
    }
    seen = next
    for (const [other, { epoch: itsEpoch, beat, unchanged }] of next) {
      if (unchanged < SILENT_BEATS_UNCONNECTED) continue
      const values = [other, itsEpoch, beat, unchanged >= SILENT_BEATS]
      const { rowCount } = await connection.query(DECLARE_DEAD, values)
      if (rowCount) for (const listener of death) listener()
    }
  }

  const tryBeat = async (line: Line): Promise<void> => {
    const before = answers
    const sentAt = performance.now()
    line.gaps = gaps
    try {
      const client = line.client ?? (await connect(line))
      const { rows } = await client.query<Observed>({ name: 'beat', text: BEAT, values: [id, epoch] })
      answers++
      failures = 0
      const own = rows.find((row) => row.id === id)
      if (rows[0] && !rows[0].mine && own && own.epoch > epoch) {
        const former = epoch
        epoch = own.epoch
        for (const listener of lost) listener(former)
      } else await observe(client, rows)
      // While beats are prompt, one connection is enough.
      if (performance.now() - sentAt < BEAT_MS)
        for (const other of lines) if (other !== line && !other.beating) disconnect(other)
    } catch (error) {
      // Without the database, no process can declare another one dead, and how long others were silent is no longer
      // known.
      if (answers === before) seen = new Map()
      disconnect(line)
      if (failures++ === 0) onError(error)
    }
    if (line.gaps === gaps) isKnown = true
  }
  const beat = (): void => {
    const line = lines.find(({ beating }) => beating === null)
    if (!line || closed) return
    line.beating = tryBeat(line).finally(() => {
      line.beating = null
    })
  }
  const beating = (): Promise<void>[] => lines.flatMap((line) => line.beating ?? [])
  const noteGap = (): void => {
    const now = performance.now()
    if (now - lastTick > MAX_GAP_MS) {
      isKnown = false
      gaps++
      seen = new Map()
    }
    lastTick = now
  }

  const [first] = lines as [Line, Line]
  const opened = await connect(first)
  await opened.query(BEAT, [id, epoch])
  // What a killed predecessor ran is closed before this process serves anybody. Without this, one that is killed again
  // soon after its start would leave all of it to the next.
  for (let i = 0; i <= SILENT_BEATS_UNCONNECTED && first.client === opened; i++) {
    if ((await opened.query(HAS_UNCONNECTED, [id])).rowCount === 0) break
    await tryBeat(first)
    await wait(BEAT_MS)
  }
  lastTick = performance.now()
  const timer = setInterval(() => {
    noteGap()
    beat()
  }, BEAT_MS)
  timer.unref()
  return {
    id,
    get epoch() {
      return epoch
    },
    // After the close nothing runs any more, and nobody could find out.
    isSure: () => closed || (isKnown && performance.now() - lastTick < MAX_GAP_MS),
    async confirm() {
      noteGap()
      while (!isKnown && !closed) {
        // A beat sent before the pause tells nothing about what happened during it.
        if (!lines.some((line) => line.beating !== null && line.gaps === gaps)) beat()
        await Promise.race(beating())
      }
    },
    onLost: (listener) => void lost.push(listener),
    onDeath: (listener) => void death.push(listener),
    async close() {
      if (closed) return
      closed = true
      clearInterval(timer)
      await Promise.all(beating())
      const { client } = lines.find((line) => line.client !== null) ?? first
      try {
        await client?.query('delete from processes where id = $1 and epoch = $2', [id, epoch])
        await client?.end()
      } catch {
        // The other processes notice it by the missing beats.
      }
      for (const line of lines) if (line.client !== client) disconnect(line)
    },
  }
}

/** Deletes the rows of processes that died more than an hour ago. */
export async function forgetDeadProcesses(db: Db): Promise<void> {
  await sql`delete from processes where not alive and beat_at < now() - interval '1 hour'`.execute(db)
}
