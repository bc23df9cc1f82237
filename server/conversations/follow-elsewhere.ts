import type { Db } from '../db/database.ts'
import type { Notifier } from '../db/notifier.ts'
import { DONE_FRAME } from './events.ts'
import type { FrameSource } from './live-generation.ts'

/** Notices may be lost; after this time the rows are looked at without one. */
const LOOK_EVERY_MS = 1_000

/**
 * The events of a generation that another process runs, as that process publishes them. Readers here share one.
 * It ends broken when the generation ends without them: its process died, and the reader finds what is stored.
 */
export function followElsewhere(
  { db, notifier, log }: { db: Db; notifier: Notifier; log: { warn(fields: object, text: string): void } },
  generationId: string,
): FrameSource {
  const frames: string[] = []
  const listeners = new Set<() => void>()
  let ended = false
  let broken = false
  let looking: Promise<void> | null = null
  let again = false

  const notify = (): void => {
    for (const listener of listeners) listener()
  }
  const end = (isBroken: boolean): void => {
    if (ended) return
    ended = true
    broken = isBroken
    clearInterval(timer)
    stopListening()
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
      .select('frames')
      .where('generation_id', '=', generationId)
      .where('position', '>=', frames.length)
      .orderBy('position')
      .execute()
    const fresh = pieces.flatMap((piece) => piece.frames)
    const isDone = fresh.at(-1) === DONE_FRAME
    if (isDone) fresh.pop()
    frames.push(...fresh)
    if (isDone) end(false)
    else if (fresh.length > 0) notify()
    else if (row?.status !== 'running') settle()
    else if (frames.length === 0) await notifier.publish(db, 'watch', generationId)
  }
  let quiet = 0
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
