import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Db } from '../db/database.ts'
import { json } from '../db/json.ts'
import type { Notifier } from '../db/notifier.ts'
import { DONE_FRAME } from './events.ts'
import type { LiveGeneration } from './live-generation.ts'

/** Frames are collected for so long before they are written: one row and one notice for all of them. */
const EVERY_MS = 40
const TRIES = 8

/**
 * Writes the frames of generations that somebody reads in another process. Those that nobody reads elsewhere
 * cost nothing: writing begins with the first request for them.
 */
export function createFramePublisher({
  db,
  notifier,
  onError,
}: {
  db: Db
  notifier: Notifier
  onError: (error: unknown) => void
}) {
  const published = new Map<string, Promise<void>>()
  let closed = false

  async function run(live: LiveGeneration): Promise<void> {
    const { id } = live.ids
    let failures = 0
    for (let written = 0; !closed; ) {
      const { ended } = live
      const frames = live.frames.slice(written)
      // The mark of the end: a reader elsewhere knows by it that nothing is missing.
      if (ended && !live.broken) frames.push(DONE_FRAME)
      if (frames.length > 0) {
        try {
          await sql`insert into stream_frames (generation_id, position, frames)
            values (${id}, ${written}, ${json(frames)})
            on conflict (generation_id, position) do update set frames = excluded.frames`.execute(db)
          await notifier.publish(db, 'frames', id)
          written += frames.length
          failures = 0
        } catch (error) {
          if (++failures === TRIES) throw error
          await wait(EVERY_MS * 2 ** failures)
          continue
        }
      }
      if (ended) return
      await wait(EVERY_MS)
    }
  }
  return {
    publish(live: LiveGeneration): void {
      const { id } = live.ids
      if (published.has(id)) return
      const done = run(live)
        .catch(onError)
        .finally(() => published.delete(id))
      published.set(id, done)
    },
    async close(): Promise<void> {
      closed = true
      await Promise.all(published.values())
    },
  }
}

/** Frames serve readers of running generations; old ones are of no use. */
export async function purgeFrames(db: Db): Promise<void> {
  await db
    .deleteFrom('stream_frames')
    .where('created_at', '<', sql<Date>`now() - interval '10 minutes'`)
    .execute()
}
