import type { Db } from '../../platform/db/database.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { ApiError } from '../../platform/http/errors.ts'
import { interrupted, noLonger } from '../records/queries.ts'
import type { Generations } from '../turn/generations.ts'
import type { Orphans } from '../turn/turn.ts'
import { EVENTS_PER_GENERATION } from './events.ts'
import { collectParts, errorOf, eventsAfter, type ReadNext, readLogs } from './generation-log.ts'
import { type Answer, type FrameSource, GrowingReading, type Reading } from './reading.ts'

/** The polling interval of the log. */
const LOOK_EVERY_MS = 200
/** The most pieces of a generation that are read from the log at once. */
const PIECES_AT_ONCE = 16
/** The most generations that are read in one statement. */
const GENERATIONS_AT_ONCE = 100
/** Following stops after this many polls without a waiting reader. */
const MAX_UNWATCHED = 10

/** The columns of the generation's row that are needed. */
type Followed = { id: string; account_id: AccountId; first_event: number }

/**
 * Follows generations that another process runs, or that have ended, and that have readers in this one. Readers of the
 * same generation share one follower.
 */
type Followers = { follow(generation: Followed): Reading }

type Deps = {
  db: Db
  stopping: AbortSignal
  log: { warn(fields: object, text: string): void }
}

/** A generation that is being followed. */
type Follower = {
  generation: Followed
  reading: GrowingReading
  collected: ReturnType<typeof collectParts>
  messageId: string
  unwatched: number
  isBusy: boolean
}

/** One statement reads what is new of all that are followed. */
export function createFollowers({ db, stopping, log }: Deps): Followers {
  const followers = new Map<string, Follower>()
  let timer: NodeJS.Timeout | undefined

  const close = (follower: Follower, result: Answer | ApiError, isBroken = false): void => {
    followers.delete(follower.generation.id)
    if (followers.size === 0) {
      clearInterval(timer)
      timer = undefined
    }
    if (isBroken) follower.reading.fail(result as ApiError)
    else follower.reading.end(result)
  }
  /** Readers re-attach to the generation in another process. */
  const breakOff = (follower: Follower): void => close(follower, interrupted(), true)

  const look = async (some: Follower[]): Promise<void> => {
    const free = some.filter(({ isBusy }) => !isBusy).slice(0, GENERATIONS_AT_ONCE)
    if (free.length === 0) return
    for (const follower of free) follower.isBusy = true
    try {
      const readers = free.map(({ generation: { id, account_id }, reading }) => ({
        accountId: account_id,
        generationId: id,
        from: reading.count,
      }))
      const next = await readLogs(db, readers, PIECES_AT_ONCE)
      for (const [i, follower] of free.entries()) take(follower, next[i]!)
    } catch (error) {
      log.warn({ err: error }, 'the log of a generation could not be read')
    }
    for (const follower of free) follower.isBusy = false
  }
  const take = (follower: Follower, { status, events, ending, hasMore, isTorn }: ReadNext): void => {
    const { reading, collected } = follower
    if (reading.ended) return
    for (const event of events) {
      collected.add(event)
      if (event.type === 'start') follower.messageId = event.messageId
      reading.emit(event)
    }
    reading.markLogged(reading.count)
    if (ending)
      close(follower, errorOf(ending) ?? answerOf(follower, ending as { metadata: Answer['metadata'] }))
    else if (status === null) close(follower, noLonger(), true)
    else if (hasMore) setImmediate(() => void look([follower]))
    // Otherwise its log has been deleted.
    else if (isTorn || (status !== 'running' && events.length === 0)) breakOff(follower)
  }
  const lookAtAll = (): void => {
    for (const follower of followers.values()) {
      follower.unwatched = follower.reading.watchers === 0 ? follower.unwatched + 1 : 0
      if (follower.unwatched > MAX_UNWATCHED) breakOff(follower)
    }
    const all = [...followers.values()]
    for (let i = 0; i < all.length; i += GENERATIONS_AT_ONCE) void look(all.slice(i, i + GENERATIONS_AT_ONCE))
  }
  stopping.addEventListener('abort', () => [...followers.values()].forEach(breakOff))
  return {
    follow(generation) {
      const { id, account_id, first_event } = generation
      const known = followers.get(id)
      if (known) return known.reading
      const reading = new GrowingReading(first_event, eventsAfter(db, account_id, id))
      const follower = {
        generation,
        reading,
        collected: collectParts(),
        messageId: '',
        unwatched: 0,
        isBusy: false,
      }
      followers.set(id, follower)
      timer ??= setInterval(lookAtAll, LOOK_EVERY_MS).unref()
      setImmediate(() => (stopping.aborted ? breakOff(follower) : void look([follower])))
      return reading
    },
  }
}

const answerOf = (
  { messageId, collected }: Follower,
  { metadata }: { metadata: Answer['metadata'] },
): Answer => ({
  id: messageId,
  role: 'assistant',
  parts: collected.parts,
  // Metadata that an earlier version stored may lack a score.
  metadata: { ...metadata, score: metadata.score ?? null },
})

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
