import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { SENT } from '../../platform/http/route.ts'

const STALLED_MS = 60_000

/**
 * Sends text as it is made. A slow reader holds it back, one that reads nothing for a minute is dropped, and with
 * a reader that leaves it ends.
 */
export function sendLines(reply: FastifyReply, pieces: AsyncGenerator<string>): typeof SENT {
  const { raw } = reply
  raw.setTimeout(STALLED_MS, () => raw.destroy())
  reply.header('cache-control', 'no-store').type('application/x-ndjson; charset=utf-8')
  reply.send(Readable.from(pieces, { highWaterMark: 1 }))
  return SENT
}
