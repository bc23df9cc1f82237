import { getHeapStatistics } from 'node:v8'
import { type RawBuilder, sql } from 'kysely'
import { withHighPriority, withTenant } from '../../platform/db/connections/lanes.ts'
import type { Db } from '../../platform/db/database.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { MessagePart } from '../../platform/db/tables/conversations.ts'
import type { ServiceProcess } from '../../platform/db/upkeep/processes.ts'
import { storableJson } from '../../platform/http/bodies/storable.ts'
import type { ErrorCode } from '../../platform/http/error-codes.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { CallPart } from '../records/parts.ts'
import type { StreamEvent } from './events.ts'
import type { AnswerMetadata, LiveGeneration } from './reading.ts'

/** How a generation ended, for clients that wait for the whole answer: its metadata, or the error to return. */
type Ending =
  | { metadata: AnswerMetadata }
  | {
      error: {
        code: ErrorCode
        message: string
        details?: Record<string, string>
        headers: Record<string, string>
      }
    }

/** The last events for the readers, and the result for clients that wait for the whole answer. */
export type LastWords = { events: StreamEvent[]; ending: Ending }

/** A piece of a generation's log; `position` is the number of its first event, from 0. */
type Piece = {
  generationId: string
  position: number
  events: readonly StreamEvent[]
  ending: Ending | null
}

export const errorEnding = ({ code, message, details, headers }: ApiError): Ending => ({
  error: { code, message, ...(details ? { details } : {}), headers },
})

export const errorOf = (ending: Ending): ApiError | null =>
  'error' in ending ? new ApiError(ending.error.code, ending.error) : null

/** An event in its stored form; `[id, delta, …]` stands for consecutive text deltas of one text. */
type Packed = StreamEvent | [id: string, ...deltas: string[]]

function pack(events: readonly StreamEvent[]): string {
  const packed: Packed[] = []
  for (const event of events) {
    const last = packed.at(-1)
    if (event.type !== 'text-delta') packed.push(event)
    else if (Array.isArray(last) && last[0] === event.id) last.push(event.delta)
    else packed.push([event.id, event.delta])
  }
  return JSON.stringify(packed)
}

function unpack(text: string): StreamEvent[] {
  return (JSON.parse(text) as Packed[]).flatMap((packed) => {
    if (!Array.isArray(packed)) return [packed]
    const [id, ...deltas] = packed
    return deltas.map((delta) => ({ type: 'text-delta' as const, id, delta }))
  })
}

/**
 * Appends pieces of generations that this process runs, in one statement. A piece may be written again, with the same
 * events and possibly more. Returns the ids of generations that could not be appended to, because they no longer run or
 * belong to another process.
 */
export async function appendToLog(
  db: Db,
  { id: owner, epoch }: { id: string; epoch: number },
  pieces: readonly Piece[],
): Promise<string[]> {
  const ids = pieces.map(({ generationId }) => generationId)
  const positions = pieces.map(({ position }) => position)
  const texts = pieces.map(({ events }) => pack(events))
  const { rows } = await sql<{ generation_id: string }>`
    insert into generation_log (generation_id, account_id, position, events)
    select piece.id, generations.account_id, piece.position, piece.events
    -- All statements that write several pieces keep this order; otherwise two of them could deadlock.
    from (
      select * from unnest(${ids}::uuid[], ${positions}::integer[], ${texts}::text[]) as piece (id, position, events)
      order by id
    ) as piece
    -- With a join, the planner would read the whole table while it is small, and go on doing so. With a plain comparison
    -- of the status, it might use the index of running generations, which still lists those that ended recently.
    cross join lateral (
      select account_id from generations
      where generations.id = piece.id and generations.status is not distinct from 'running'
        and generations.owner = ${owner}::uuid and generations.epoch = ${epoch}::integer
      -- Whoever closes one of them waits for this statement, or this statement for it.
      for key share
    ) as generations
    -- An earlier attempt, whose response was lost, may have written this piece, and may even run after this one. The
    -- longer version stays. A conflict returns its row, too, because the generation is still this process's own.
    on conflict (generation_id, position) do update set events = case
      when octet_length(excluded.events) > octet_length(generation_log.events) then excluded.events
      else generation_log.events end
    returning generation_id`.execute(db)
  const written = new Set(rows.map(({ generation_id }) => generation_id))
  return ids.filter((id) => !written.has(id))
}

/**
 * The statement that adds the last piece, in the transaction that ends the generation. It replaces a piece that the
 * owner was still writing, which starts at the same position and holds less.
 */
export const insertLastPiece = (
  accountId: AccountId,
  { generationId, position, events, ending }: Piece,
): RawBuilder<unknown> => sql`
  insert into generation_log (generation_id, account_id, position, events, ending)
  values (${generationId}::uuid, ${accountId}::uuid, ${position}::integer, ${pack(events)}, ${JSON.stringify(ending)})
  on conflict (generation_id, position) do update set events = excluded.events, ending = excluded.ending`

/** How far a reader has read a generation. */
type ReadSoFar = { accountId: AccountId; generationId: string; from: number }

/** What a reader has not read yet: the status of a generation, the next events, and how it ended once that is read. */
export type ReadNext = {
  /** null: the generation has been deleted. */
  status: string | null
  events: StreamEvent[]
  ending: Ending | null
  /** Whether there are more pieces than were read. */
  hasMore: boolean
  /** Whether events before those that were read are missing. */
  isTorn: boolean
}

/** Reads on in several logs at once, at most `pieces` pieces of each; with null, all of them. */
export async function readLogs(
  db: Db,
  readers: readonly ReadSoFar[],
  pieces: number | null = null,
): Promise<ReadNext[]> {
  const { rows } = await sql<{
    number: number
    status: string | null
    position: number | null
    events: string
    ending: string | null
  }>`
    select reader.number::int, generations.status, piece.position, piece.events, piece.ending
    from unnest(${readers.map(({ generationId }) => generationId)}::uuid[],
      ${readers.map(({ accountId }) => accountId)}::uuid[], ${readers.map(({ from }) => from)}::integer[])
      with ordinality as reader (id, account_id, seen, number)
    left join lateral (
      select status from generations where id = reader.id and account_id = reader.account_id
    ) as generations on true
    left join lateral (
      select position, events, ending from generation_log
      where account_id = reader.account_id and generation_id = reader.id and position >= coalesce((
        select max(position) from generation_log
        where account_id = reader.account_id and generation_id = reader.id and position <= reader.seen), 0)
      order by position limit ${pieces}::int
    ) as piece on true
    order by reader.number, piece.position`.execute(db)
  const next = readers.map(
    (): ReadNext => ({ status: null, events: [], ending: null, hasMore: false, isTorn: false }),
  )
  const counts = readers.map(() => 0)
  for (const row of rows) {
    const i = row.number - 1
    const one = next[i]!
    one.status = row.status
    if (row.position === null) continue
    one.hasMore = ++counts[i]! === pieces
    // A piece may have grown since it was last read.
    const known = readers[i]!.from + one.events.length - row.position
    one.isTorn ||= known < 0
    if (one.isTorn) continue
    one.events.push(...unpack(row.events).slice(known))
    if (row.ending !== null) one.ending = JSON.parse(row.ending) as Ending
  }
  return next
}

/** Returns the events from number `from` on, and how the generation ended once that is in the log. */
export async function readLog(
  db: Db,
  accountId: AccountId,
  generationId: string,
  from: number,
  pieces: number | null = null,
): Promise<ReadNext> {
  const [next] = await readLogs(db, [{ accountId, generationId, from }], pieces)
  if (next!.isTorn) throw new Error(`Events of generation ${generationId} are missing after ${from}.`)
  return next!
}

/** Returns the events as the parts of a message, as it is stored. */
export function partsOf(events: readonly StreamEvent[]): MessagePart[] {
  const collected = collectParts()
  for (const event of events) collected.add(event)
  return collected.parts
}

/** Does the same one event at a time, for events that are not kept in memory. */
export function collectParts(): { readonly parts: MessagePart[]; add(event: StreamEvent): void } {
  const parts: MessagePart[] = []
  const calls = new Map<string, CallPart>()
  let textId: string | null = null
  return {
    get parts() {
      // Events hold the text as the model sent it; half a surrogate pair may be completed by the next one.
      return storableJson(parts) as MessagePart[]
    },
    add(event) {
      if (event.type === 'text-delta') {
        const last = parts.at(-1)
        if (textId === event.id && last?.type === 'text') last.text += event.delta
        else parts.push({ type: 'text', text: event.delta })
        textId = event.id
      } else if (event.type === 'tool-input-available') {
        const { type: _, ...call } = event
        const part = { type: 'tool-call' as const, ...call }
        calls.set(call.toolCallId, part)
        parts.push(part)
      } else if (event.type === 'tool-output-available') {
        const { type: _, ...result } = event
        const call = calls.get(result.toolCallId)
        if (call && result.providerExecuted) call.providerExecuted = true
        parts.push({ type: 'tool-result', toolName: call?.toolName ?? 'unknown', ...result })
      }
    },
  }
}

/** Returns the next events for a reader that already has the first `from`. */
export const eventsAfter =
  (db: Db, accountId: AccountId, generationId: string) =>
  async (from: number): Promise<StreamEvent[]> =>
    // The first piece may contain nothing new.
    (await readLog(db, accountId, generationId, from, 2)).events

/** Deletes logs older than 25 hours. A repeated request reads the log, and keys are kept for only 24 hours. */
export async function purgeLog(db: Db): Promise<void> {
  // The clock of a process may be ahead, and the logs that repeated requests need would be deleted.
  const { rows } = await sql<{ ms: number }>`
    select (extract(epoch from now()) * 1000)::double precision as ms`.execute(db)
  const before = firstIdOf(Math.floor(Math.min(rows[0]!.ms, Date.now())) - 25 * 3_600_000)
  await sql`
    delete from generation_log where generation_id < ${before}
      and not exists (select from generations where id = generation_id and status = 'running')`.execute(db)
}

/** Returns the smallest UUIDv7 of a time; ids of generations increase with time. */
function firstIdOf(ms: number): string {
  const hex = Math.max(0, ms).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

/**
 * A process that is killed loses the words of the last quarter of a second at most: those of this time, and of one write.
 */
const EVERY_MS = 150
const MAX_PAUSE_MS = 1_000
/** The most events in one piece; a reader that has fallen behind loads whole pieces. */
const EVENTS_OF_PIECE = 256
/** The most pieces that one statement writes. */
const PIECES_AT_ONCE = 64
/** An account with more generations than this is written by itself. */
const MANY = 32

/** Writes the events of the generations that run in this process to the log. */
type LogWriter = {
  /** Has the generation's new events written within EVERY_MS. */
  add(live: LiveGeneration): void
  /** Resolves when all events of the generation so far are in the log, or cannot be written to it now. */
  saved(live: LiveGeneration): Promise<void>
  close(): Promise<void>
}

type Deps = { db: Db; process: ServiceProcess; onError: (error: unknown) => void }

/**
 * Writes the events of all generations together, ahead of other statements. Those of an account with many generations
 * count against its own share of the database: if that is too much, only its own log is late.
 */
export function createLogWriter({ db, process, onError }: Deps): LogWriter {
  const waiting = new Map<AccountId, Set<LiveGeneration>>()
  /** What is being written, by account; '' stands for all accounts with few generations. */
  const writing = new Map<string, Promise<void>>()
  /** The generations that are being written, and those that wait for that in the same group. */
  const busy = new Set<LiveGeneration>()
  let timer: NodeJS.Timeout | undefined
  let failures = 0
  let closed = false
  /** Whether the first word of an answer waits. */
  let isUrgent = false

  const add = (live: LiveGeneration): void => {
    const own = waiting.get(live.accountId)
    if (own) own.add(live)
    else waiting.set(live.accountId, new Set([live]))
    // Once the first word is in the log, the model is not asked again after a kill.
    const isFirst = live.unsaved.length === live.count && failures === 0 && !closed
    if (!isFirst) schedule()
    else if (!isUrgent) {
      isUrgent = true
      setImmediate(() => isUrgent && writeAll())
    }
  }
  const schedule = (): void => {
    if (closed || waiting.size === 0) return
    const pause = failures === 0 ? EVERY_MS : Math.min(MAX_PAUSE_MS, EVERY_MS * 2 ** failures)
    timer ??= setTimeout(writeAll, pause)
  }
  const writeAll = (): void => {
    clearTimeout(timer)
    timer = undefined
    isUrgent &&= writing.has('')
    const few: LiveGeneration[] = []
    for (const [accountId, own] of waiting) {
      const tenant = own.size > MANY ? accountId : ''
      if (writing.has(tenant)) continue
      // What is being written is not written twice at a time: it waits until that is done.
      const free = [...own].filter((live) => !busy.has(live))
      for (const live of free) own.delete(live)
      if (own.size === 0) waiting.delete(accountId)
      if (tenant === '') few.push(...free)
      else if (free.length > 0) start(tenant, free)
    }
    if (few.length > 0) start('', few)
  }
  const start = (tenant: string, lives: LiveGeneration[]): void => {
    for (const live of lives) busy.add(live)
    const work = async (): Promise<void> => {
      for (let i = 0; i < lives.length; i += PIECES_AT_ONCE) await write(lives.slice(i, i + PIECES_AT_ONCE))
    }
    const done = withTenant(tenant, () => (tenant === '' ? withHighPriority(work) : work())).finally(() => {
      writing.delete(tenant)
      for (const live of lives) busy.delete(live)
      if (isUrgent) writeAll()
      else schedule()
    })
    writing.set(tenant, done)
  }
  const write = async (lives: LiveGeneration[]): Promise<void> => {
    const batch = lives.filter(({ isEnding, unsaved }) => !isEnding && unsaved.length > 0)
    if (batch.length === 0) return
    const pieces = batch.map(pieceOf)
    try {
      const refused = new Set(await appendToLog(db, process, pieces))
      failures = 0
      for (const [i, live] of batch.entries()) {
        // The rest of an answer that ends is stored with its end.
        if (live.isEnding) continue
        if (refused.has(live.ids.id)) live.abort('lost')
        else live.markSaved(pieces[i]!.events.length)
        if (live.unsaved.length > 0 && live.abortReason !== 'lost') add(live)
      }
    } catch (error) {
      // If the database is not available, everything is written once it is back.
      if (failures++ === 0) onError(error)
      for (const live of batch) add(live)
    }
  }
  return {
    add,
    async saved(live) {
      while (live.unsaved.length > 0 && !live.ended && !live.signal.aborted && failures === 0) {
        writeAll()
        if (writing.size === 0) return
        await Promise.race(writing.values())
      }
    },
    async close() {
      closed = true
      clearTimeout(timer)
      await Promise.all(writing.values())
    },
  }
}

/** The events and their number are read together, because both grow. */
const pieceOf = ({ ids, unsaved, count }: LiveGeneration): Piece => ({
  generationId: ids.id,
  position: count - unsaved.length,
  events: unsaved.slice(0, EVENTS_OF_PIECE),
  ending: null,
})

/**
 * How many characters of events may wait for the log. While the database is unavailable, everything that was said since then
 * has to stay in memory, where a character of an encoded event takes about two bytes, because the event itself is kept,
 * too. An eighth of the heap's limit is therefore a quarter of the heap.
 */
const MAX_CHARACTERS = Math.floor(getHeapStatistics().heap_size_limit / 8)

/** What the answers of this process have said that is not in the log yet. */
export type Backlog = {
  /** Counts more characters of the account's events, or fewer with a negative number. */
  add(accountId: AccountId, characters: number): void
  /** Whether nothing more may be said for the account. Half of the room is the most that one account gets. */
  isFull(accountId: AccountId): boolean
  /** Resolves when there is room for the account, or the signal is aborted. Returns undefined when there is room. */
  room(accountId: AccountId, signal: AbortSignal): Promise<void> | undefined
}

/** `most` is the number of characters for all accounts together. */
export function createBacklog(most = MAX_CHARACTERS): Backlog {
  const ofAccount = new Map<AccountId, number>()
  const waiting = new Set<() => void>()
  let all = 0
  const isFull = (accountId: AccountId): boolean => all >= most || (ofAccount.get(accountId) ?? 0) >= most / 2
  return {
    isFull,
    add(accountId, characters) {
      all += characters
      const own = (ofAccount.get(accountId) ?? 0) + characters
      if (own > 0) ofAccount.set(accountId, own)
      else ofAccount.delete(accountId)
      if (characters < 0 && all < most) for (const look of waiting) look()
    },
    room(accountId, signal) {
      if (!isFull(accountId) || signal.aborted) return undefined
      return new Promise((resolve) => {
        const look = (): void => {
          if (isFull(accountId) && !signal.aborted) return
          waiting.delete(look)
          signal.removeEventListener('abort', look)
          resolve()
        }
        waiting.add(look)
        signal.addEventListener('abort', look)
      })
    },
  }
}
