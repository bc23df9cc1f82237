import type { FastifyReply } from 'fastify'
import { SENT } from '../../http/route.ts'
import { shownParts } from '../records/parts.ts'
import { ApplicationFrames } from './application-frames.ts'
import type { Reading } from './growing-reading.ts'
import { EVENTS, sendStream, type Wire } from './send-stream.ts'

const APPLICATION_EVENTS: Wire = { ...EVENTS, shape: () => new ApplicationFrames() }

export const wireFor = (includeServerActions: boolean): Wire =>
  includeServerActions ? EVENTS : APPLICATION_EVENTS

/** Sends a reply as a stream while it is generated, or as one body when it is complete. */
export async function sendReply(
  reply: FastifyReply,
  reading: Reading,
  { stream, includeServerActions }: { stream: boolean; includeServerActions: boolean },
) {
  if (stream) {
    await whileWatching(reading, reading.started)
    sendStream(reply, reading, 0, wireFor(includeServerActions))
    return SENT
  }
  const answer = await whileWatching(reading, reading.answer)
  return { data: { ...answer, parts: shownParts(answer.parts, includeServerActions) } }
}

/** Resolves to the result of `promise`, and keeps reading meanwhile. */
export async function whileWatching<T>(reading: Reading, promise: Promise<T>): Promise<T> {
  const stop = reading.watch(() => {})
  try {
    return await promise
  } finally {
    stop()
  }
}
