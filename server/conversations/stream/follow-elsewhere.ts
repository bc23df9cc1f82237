import type { Db } from '../../db/database.ts'
import type { Notifier } from '../../db/notifier.ts'
import type { AccountId } from '../../db/tables/columns.ts'
import type { MessagePart } from '../../db/tables/conversations.ts'
import type { ApiError } from '../../http/errors.ts'
import { interrupted, noLonger } from '../records/queries.ts'
import { collectParts, type Ending, errorOf, eventsAfter, readLog } from './generation-log.ts'
import { type Answer, GrowingReading, type Reading } from './growing-reading.ts'

/** How often the log is polled, in milliseconds, because notices may be lost. */
const LOOK_EVERY_MS = 1_000
/** The most pieces that are read from the log at once. */
const PIECES_AT_ONCE = 16
/** The number of polls without a waiting reader after which following stops. */
const MOST_UNWATCHED = 2
/**
 * The number of polls of a generation that no longer runs, after which readers are told that its end is not in the
 * log.
 */
const MOST_LOOKS = 3

/** The columns of the generation's row that are needed. */
type Followed = { id: string; account_id: AccountId; first_event: number }

/**
 * Follows generations that another process runs and that have readers in this one. Readers of the same generation
 * share one follower.
 */
type Followers = { follow(generation: Followed): Reading }

type Needs = {
  db: Db
  notifier: Notifier
  stopping: AbortSignal
  log: { warn(fields: object, text: string): void }
}

export function createFollowers(needs: Needs): Followers {
  const followed = new Map<string, Reading>()
  return {
    follow(generation) {
      const known = followed.get(generation.id)
      if (known && !known.ended) return known
      const reading = followElsewhere(needs, generation)
      followed.set(generation.id, reading)
      void reading.ending.then(() => {
        if (followed.get(generation.id) === reading) followed.delete(generation.id)
      })
      return reading
    },
  }
}

/** Follows a generation's log to its end, while its process is still writing it or long afterwards. */
function followElsewhere(
  { db, notifier, stopping, log }: Needs,
  { id, account_id, first_event }: Followed,
): Reading {
  const reading = new GrowingReading(first_event, eventsAfter(db, account_id, id))
  const collected = collectParts()
  let messageId = ''
  let looking: Promise<void> | null = null
  let again = false
  let quiet = 0
  let unwatched = 0
  let isAnnounced = false

  const close = (end: () => void): void => {
    clearInterval(timer)
    stopListening()
    stopping.removeEventListener('abort', breakOff)
    end()
  }
  /** Readers re-attach to the generation in another process. */
  const breakOff = (): void => close(() => reading.fail(interrupted()))
  async function look(): Promise<void> {
    // Read the state first, so that everything logged before the end is part of what is read next.
    const row = await db
      .selectFrom('generations')
      .select('status')
      .where('account_id', '=', account_id)
      .where('id', '=', id)
      .executeTakeFirst()
    const { events: fresh, ending } = await readLog(db, account_id, id, reading.count, PIECES_AT_ONCE)
    if (reading.ended) return
    for (const event of fresh) {
      collected.add(event)
      if (event.type === 'start') messageId = event.messageId
      reading.emit(event)
    }
    reading.markLogged(reading.count)
    if (ending) return close(() => reading.end(resultOf(messageId, collected.parts, ending)))
    quiet = fresh.length > 0 ? 0 : quiet + 1
    if (fresh.length > 0) lookSoon()
    if (!row) close(() => reading.fail(noLonger()))
    else if (row.status === 'running') await askForNotices()
    else if (quiet >= MOST_LOOKS) close(() => reading.fail(interrupted()))
  }
  /** Asks the owner to announce each piece. The notice may be lost, so it is repeated while nothing comes. */
  async function askForNotices(): Promise<void> {
    const isDue = !isAnnounced || (quiet > 0 && (reading.count === 0 || quiet % 3 === 0))
    if (!isDue) return
    isAnnounced = true
    await notifier.publish(db, 'watch', id)
  }
  const lookSoon = (): void => {
    if (reading.ended) return
    if (looking) {
      again = true
      return
    }
    looking = look()
      .catch((error: unknown) => log.warn({ err: error }, 'the log of a generation could not be read'))
      .finally(() => {
        looking = null
        if (again) {
          again = false
          lookSoon()
        }
      })
  }
  const timer = setInterval(() => {
    unwatched = reading.watchers === 0 ? unwatched + 1 : 0
    if (unwatched > MOST_UNWATCHED) breakOff()
    else lookSoon()
  }, LOOK_EVERY_MS)
  timer.unref()
  const stopListening = notifier.on('frames', (changed) => {
    if (changed === id) lookSoon()
  })
  stopping.addEventListener('abort', breakOff)
  setImmediate(stopping.aborted ? breakOff : lookSoon)
  return reading
}

function resultOf(id: string, parts: MessagePart[], ending: Ending): Answer | ApiError {
  const error = errorOf(ending)
  if (error) return error
  return {
    id,
    role: 'assistant',
    parts,
    // Metadata that an earlier version stored may lack a score.
    metadata:
      'metadata' in ending ? { ...ending.metadata, score: ending.metadata.score ?? null } : ({} as never),
  }
}
