import type { Db } from '../db/database.ts'
import type { Notifier } from '../db/notifier.ts'
import { DONE_FRAME } from './events.ts'
import type { FrameSource } from './live-generation.ts'

/** Notices may be lost; after this time the rows are looked at without one. */
const LOOK_EVERY_MS = 1_000

/** The generations that other processes run and somebody reads here; readers of one share it. */
export type Followers = { follow(generationId: string): FrameSource }

export function createFollowers(needs: Needs): Followers {
  const followed = new Map<string, FrameSource>()
  return {
    follow(generationId) {
      const known = followed.get(generationId)
      if (known && !known.ended) return known
      const source = followElsewhere(needs, generationId, () => {
        if (followed.get(generationId) === source) followed.delete(generationId)
      })
      followed.set(generationId, source)
      return source
    },
  }
}

type Needs = { db: Db; notifier: Notifier; log: { warn(fields: object, text: string): void } }

/**
 * The events of a generation that another process runs, as that process publishes them. It ends broken when the generation ends without them: its process died, and the reader finds what is stored.
 */
function followElsewhere({ db, notifier, log }: Needs, generationId: string, onEnd: () => void): FrameSource {
  const frames: string[] = []
  const listeners = new Set<() => void>()
  let ended = false
  let broken = false
  let looking: Promise<void> | null = null
  let again = false
  /** Looks without anything new. */
  let quiet = 0

  const notify = (): void => {
    for (const listener of listeners) listener()
  }
  const end = (isBroken: boolean): void => {
    if (ended) return
    ended = true
    broken = isBroken
    clearInterval(timer)
    stopListening()
    onEnd()
    notify()
  }
  async function look(): Promise<void> {
    // The state first: frames written before the end are then surely among those read after it.
    const row = await db
      .selectFrom('generations')
      .select('status')
      .where('id', '=', generationId)
      .executeTakeFirst()
    const pieces = await db
      .selectFrom('stream_frames')
      .select(['position', 'frames'])
      .where('generation_id', '=', generationId)
      .where('position', '>=', frames.length)
      .orderBy('position')
      .execute()
    const fresh: string[] = []
    for (const piece of pieces) {
      // A piece is missing: what follows it would tell the reader a story with a hole.
      if (piece.position !== frames.length + fresh.length) return end(true)
      fresh.push(...piece.frames)
    }
    if (fresh.length > 0) quiet = 0
    const isDone = fresh.at(-1) === DONE_FRAME
    if (isDone) fresh.pop()
    frames.push(...fresh)
    if (isDone) end(false)
    else if (fresh.length > 0) notify()
    else if (row?.status !== 'running') settle()
    // Its owner may not have heard, or may have given up.
    else if (frames.length === 0 || ++quiet % 3 === 0) await notifier.publish(db, 'watch', generationId)
  }
  /** The owner stores the end before it publishes the last frames: it gets a moment for them. */
  const settle = (): void => {
    if (++quiet > 3) end(true)
  }
  const lookSoon = (): void => {
    if (ended) return
    if (looking) {
      again = true
      return
    }
    looking = look()
      .catch((error: unknown) => log.warn({ err: error }, 'frames of another process'))
      .finally(() => {
        looking = null
        if (again) {
          again = false
          lookSoon()
        }
      })
  }
  const timer = setInterval(() => (listeners.size === 0 ? end(true) : lookSoon()), LOOK_EVERY_MS)
  const stopListening = notifier.on('frames', (id) => {
    if (id === generationId) lookSoon()
  })
  setImmediate(lookSoon)
  return {
    frames,
    get ended() {
      return ended
    },
    get broken() {
      return broken
    },
    watch(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
