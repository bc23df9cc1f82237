import { setTimeout as wait } from 'node:timers/promises'
import { isUnavailable } from '../../platform/db/connections/database-errors.ts'
import type { Db } from '../../platform/db/database.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { interrupted, noLonger } from '../records/queries.ts'
import type { Generations, Orphans } from '../turn/generations.ts'
import { EVENTS_PER_GENERATION, type StreamEvent } from './events.ts'
import { errorOf, eventsAfter, partsOf, readLog } from './generation-log.ts'
import { type Answer, type FrameSource, GrowingReading, type Reading } from './reading.ts'

/** The polling interval of the log. */
const LOOK_EVERY_MS = 200
/** The most pieces of a generation that are read from the log at once. */
const PIECES_AT_ONCE = 16
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

type Deps = {
  db: Db
  stopping: AbortSignal
  log: { warn(fields: object, text: string): void }
}

export function createFollowers({ db, stopping, log }: Deps): Followers {
  const followed = new Map<string, GrowingReading>()

  /** Reads on until the end, and returns the answer, or the error to return. */
  const read = async (
    generation: Followed,
    reading: GrowingReading,
    told: (event: StreamEvent) => StreamEvent,
  ): Promise<Answer | ApiError> => {
    const { id, account_id: accountId } = generation
    for (let unwatched = 0; unwatched <= MAX_UNWATCHED && !stopping.aborted; ) {
      const next = await readLog(db, accountId, id, reading.count, PIECES_AT_ONCE).catch((error: unknown) => {
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
  ctx: { db: Db; generations: Generations; orphans: Orphans; followers: Followers },
  accountId: AccountId,
  conversationId: string,
): Promise<Attached | null> {
  const here = ctx.generations.ofConversation(conversationId)
  if (here && !here.ended) return { source: here, firstEvent: here.ids.firstEvent }
  const row = await runningGeneration(ctx.db, accountId, conversationId)
  if (!row) return null
  // It may have started in this process meanwhile.
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
