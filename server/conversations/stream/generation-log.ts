import { setTimeout as wait } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { isUnavailable } from '../../platform/db/connections/database-errors.ts'
import { withHighPriority, withTenant } from '../../platform/db/connections/lanes.ts'
import type { Db } from '../../platform/db/database.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { MessagePart } from '../../platform/db/tables/conversations.ts'
import type { ServiceProcess } from '../../platform/db/upkeep/processes.ts'
import { storableJson } from '../../platform/http/bodies/storable.ts'
import { ApiError, type ErrorCode } from '../../platform/http/errors.ts'
import type { CallPart } from '../records/parts.ts'
import { interrupted, noLonger } from '../records/queries.ts'
import {
  type Answer,
  type AnswerMetadata,
  EVENTS_PER_GENERATION,
  type FrameSource,
  GrowingReading,
  type LiveGeneration,
  type Reading,
  type StreamEvent,
} from './reading.ts'

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

export const errorOf = ({ error }: Extract<Ending, { error: object }>): ApiError =>
  new ApiError(error.code, error)

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

/** What a reader has not read yet: the status of a generation, the next events, and how it ended once that is read. */
type ReadNext = {
  /** null: the generation has been deleted. */
  status: string | null
  events: StreamEvent[]
  ending: Ending | null
  /** Whether there are more pieces than were read. */
  hasMore: boolean
}

/** Reads at most `pieces` pieces of a log from the event with the number `from` on; with null, all of them. */
export async function readLog(
  db: Db,
  accountId: AccountId,
  generationId: string,
  from: number,
  pieces: number | null = null,
): Promise<ReadNext> {
  const { rows } = await sql<{
    status: string | null
    position: number | null
    events: string
    ending: string | null
  }>`
    select (select status from generations where account_id = ${accountId} and id = ${generationId}) as status, piece.*
    from (select) as reader left join lateral (
      select position, events, ending from generation_log
      where account_id = ${accountId} and generation_id = ${generationId} and position >= coalesce((
        select max(position) from generation_log
        where account_id = ${accountId} and generation_id = ${generationId} and position <= ${from}::integer), 0)
      order by position limit ${pieces}::integer
    ) as piece on true`.execute(db)
  const events: StreamEvent[] = []
  for (const { position, events: packed } of rows) {
    if (position === null) continue
    // A piece may have grown since it was last read.
    const known = from + events.length - position
    if (known < 0) throw new Error(`Events of generation ${generationId} are missing after ${from}.`)
    events.push(...unpack(packed).slice(known))
  }
  const { status = null, ending = null } = rows.at(-1) ?? {}
  const how = ending === null ? null : (JSON.parse(ending) as Ending)
  return { status, events, ending: how, hasMore: rows.length === pieces }
}

/** Returns the events as the parts of a message, as it is stored. */
export function partsOf(events: readonly StreamEvent[]): MessagePart[] {
  const parts: MessagePart[] = []
  const calls = new Map<string, CallPart>()
  let textId: string | null = null
  for (const event of events) {
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
  }
  // Events hold the text as the model sent it; half a surrogate pair may be completed by the next one.
  return storableJson(parts) as MessagePart[]
}

/** Returns the next events for a reader that already has the first `from`. */
export const eventsAfter =
  (db: Db, accountId: AccountId, generationId: string) =>
  async (from: number): Promise<StreamEvent[]> =>
    // The first piece may contain nothing new.
    (await readLog(db, accountId, generationId, from, 2)).events

/** Deletes logs older than 25 hours. A repeated request reads the log, and keys are kept for only 24 hours. */
export async function purgeLog(db: Db): Promise<void> {
  // The ids of generations begin with their time. It is the database's, because the clock of a process may be ahead.
  await sql`
    delete from generation_log where generation_id < (lpad(to_hex((
        extract(epoch from now() - interval '25 hours') * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid
      and not exists (select from generations where id = generation_id and status = 'running')`.execute(db)
}

/** How often new words are written to the log, which is what a process that is killed loses at most. */
const EVERY_MS = 150
/** The same while the database refuses them. */
const PAUSE_MS = 1_000
/** The most events in one piece; a reader that has fallen behind loads whole pieces. */
export const EVENTS_OF_PIECE = 512
/** The most pieces that one statement writes. */
const PIECES_AT_ONCE = 64

/** Writes the events of the generations that run in this process to the log. */
type LogWriter = {
  /** Has the generation's new events written within EVERY_MS. */
  add(live: LiveGeneration): void
  /** Resolves when all events of the generation so far are in the log, or cannot be written to it now. */
  saved(live: LiveGeneration): Promise<void>
  close(): Promise<void>
}

type Deps = { db: Db; process: ServiceProcess; onError: (error: unknown) => void }

/** Writes the events of all generations together, ahead of other statements, and one statement at a time. */
export function createLogWriter({ db, process, onError }: Deps): LogWriter {
  const waiting = new Set<LiveGeneration>()
  let writing: Promise<void> | null = null
  let timer: NodeJS.Timeout | undefined
  /** Whether the first word of an answer waits. Once it is in the log, the model is not asked again after a kill. */
  let isUrgent = false
  let isFailing = false
  let closed = false

  const add = (live: LiveGeneration): void => {
    waiting.add(live)
    if (!isFailing && !isUrgent && live.unsaved.length === live.count) {
      isUrgent = true
      setImmediate(write)
    }
    schedule()
  }
  const schedule = (): void => {
    if (!closed) timer ??= setTimeout(write, isFailing ? PAUSE_MS : EVERY_MS)
  }
  const write = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    if (closed || writing) return writing ?? Promise.resolve()
    isUrgent = false
    const lives = [...waiting]
    waiting.clear()
    writing = withTenant('', () => withHighPriority(() => writeAll(lives))).finally(() => {
      writing = null
      if (isUrgent) void write()
      else if (waiting.size > 0) schedule()
    })
    return writing
  }
  const writeAll = async (lives: LiveGeneration[]): Promise<void> => {
    // The statement that stores the end also writes the remaining events.
    const due = lives.filter(({ isEnding, unsaved }) => !isEnding && unsaved.length > 0)
    for (let i = 0; i < due.length; i += PIECES_AT_ONCE) {
      const batch = due.slice(i, i + PIECES_AT_ONCE)
      const pieces = batch.map(pieceOf)
      try {
        const refused = new Set(await appendToLog(db, process, pieces))
        isFailing = false
        for (const [at, live] of batch.entries()) {
          if (live.isEnding) continue
          if (refused.has(live.ids.id)) live.abort('lost')
          else live.markSaved(pieces[at]!.events.length)
          if (live.unsaved.length > 0 && live.abortReason !== 'lost') waiting.add(live)
        }
      } catch (error) {
        // If the database is not available, everything is written once it is back.
        if (!isFailing) onError(error)
        isFailing = true
        for (const live of batch) waiting.add(live)
      }
    }
  }
  return {
    add,
    async saved(live) {
      const isOver = (): boolean => closed || isFailing || live.isEnding || live.signal.aborted
      while (live.unsaved.length > 0 && !isOver()) await write()
    },
    async close() {
      closed = true
      clearTimeout(timer)
      await writing
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

/** The polling interval of the log. */
const LOOK_EVERY_MS = 200
/** The most pieces of a generation that are read from the log at once. */
const PIECES_READ = 16
/** Following stops after this many polls without a waiting reader. */
const MAX_UNWATCHED = 10

/** The columns of the generation's row that are needed. */
type Followed = { id: string; account_id: AccountId; first_event: number; message_id: string }

/**
 * Follows generations that another process runs, or that have ended, and that have readers in this one. Readers of the
 * same generation share one follower.
 */
type Followers = {
  /** `userMessageId` is the question that the reader is told instead of the one that the answer names. */
  follow(generation: Followed, userMessageId?: string): Reading
}

type FollowerDeps = {
  db: Db
  stopping: AbortSignal
  log: { warn(fields: object, text: string): void }
}

export function createFollowers({ db, stopping, log }: FollowerDeps): Followers {
  const followed = new Map<string, GrowingReading>()

  /** Reads on until the end, and returns the answer, or the error to return. */
  const read = async (
    generation: Followed,
    reading: GrowingReading,
    told: (event: StreamEvent) => StreamEvent,
  ): Promise<Answer | ApiError> => {
    const { id, account_id: accountId } = generation
    for (let unwatched = 0; unwatched <= MAX_UNWATCHED && !stopping.aborted; ) {
      const next = await readLog(db, accountId, id, reading.count, PIECES_READ).catch((error: unknown) => {
        if (!isUnavailable(error)) throw error
        log.warn({ err: error }, 'the log of a generation could not be read')
        return null
      })
      for (const event of next?.events ?? []) reading.emit(told(event))
      reading.markLogged(reading.count)
      if (next?.ending) {
        const { ending } = next
        if ('error' in ending) return errorOf(ending)
        return wholeAnswer(db, generation, ending.metadata)
      }
      if (next?.status === null) throw noLonger()
      if (next?.hasMore) continue
      // Its log has been deleted.
      if (next && next.status !== 'running' && next.events.length === 0) break
      await wait(LOOK_EVERY_MS, undefined, { ref: false })
      unwatched = reading.watchers === 0 ? unwatched + 1 : 0
    }
    // Readers re-attach to the generation in another process.
    throw interrupted()
  }
  return {
    follow(generation, userMessageId = '') {
      const { id, account_id, first_event } = generation
      const key = id + userMessageId
      const known = followed.get(key)
      if (known) return known
      const naming = <T extends object>(metadata: T): T =>
        userMessageId === '' ? metadata : { ...metadata, userMessageId }
      const told = (event: StreamEvent): StreamEvent =>
        'messageMetadata' in event ? { ...event, messageMetadata: naming(event.messageMetadata) } : event
      const readLater = eventsAfter(db, account_id, id)
      const reading = new GrowingReading(first_event, async (from) => (await readLater(from)).map(told))
      followed.set(key, reading)
      read(generation, reading, told)
        .finally(() => followed.delete(key))
        .then((result) =>
          reading.end(result instanceof ApiError ? result : { ...result, metadata: naming(result.metadata) }),
        )
        .catch((error: unknown) => reading.fail(error instanceof ApiError ? error : interrupted()))
      return reading
    },
  }
}

/** Events are not kept in memory, so the parts of the answer are read again. */
async function wholeAnswer(
  db: Db,
  { id, account_id, message_id }: Followed,
  metadata: Answer['metadata'],
): Promise<Answer> {
  const { events } = await readLog(db, account_id, id, 0)
  return { id: message_id, role: 'assistant', parts: partsOf(events), metadata }
}

type Attached = { source: FrameSource; firstEvent: number }

/** Returns the running generation of a conversation, whichever process runs it; null when there is none. */
export async function attach(
  ctx: {
    db: Db
    generations: {
      get(id: string): LiveGeneration | null
      ofConversation(id: string): LiveGeneration | null
    }
    orphans: { closeIfOrphaned(accountId: AccountId, which: { conversationId: string }): Promise<boolean> }
    followers: Followers
  },
  accountId: AccountId,
  conversationId: string,
): Promise<Attached | null> {
  const row = await runningGeneration(ctx.db, accountId, conversationId)
  if (!row) return null
  const live = ctx.generations.get(row.id)
  if (live) return { source: live, firstEvent: row.first_event }
  if (await ctx.orphans.closeIfOrphaned(accountId, { conversationId })) return null
  return { source: ctx.followers.follow(row), firstEvent: row.first_event }
}

export async function runningGeneration(db: Db, accountId: AccountId, conversationId: string) {
  return db
    .selectFrom('generations')
    .select(['id', 'account_id', 'first_event', 'message_id'])
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
    .where('status', '=', 'running')
    .executeTakeFirst()
}

/**
 * Returns how many frames a reader already has if `lastEventId` is the last event it saw: none if the id belongs to an
 * earlier generation of the conversation.
 */
export function positionAfter(lastEventId: string | undefined, { firstEvent }: Attached): number {
  const seen = /^\d{1,15}$/.test(lastEventId ?? '') ? Number(lastEventId) - firstEvent : 0
  return seen > 0 && seen < EVENTS_PER_GENERATION ? seen : 0
}
