import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../http/errors.ts'

/** Smaller ones are no more than any other endpoint reads. */
const SMALL_BYTES = 1_048_576
const AT_ONCE = 8
/** Until the last byte of a large body has come. */
const LONGEST_MS = 60_000

export const overloaded = (): ApiError =>
  new ApiError('SERVICE_OVERLOADED', { headers: { 'retry-after': '5' } })

/**
 * Admits a few large bodies at a time, before they are read: all of a body is held in memory until its signature can
 * be checked, and whoever knows the id of an agent can send one. Throws SERVICE_OVERLOADED.
 */
export function admitLargeBodies({
  longestMs = LONGEST_MS,
} = {}): (request: FastifyRequest, reply: FastifyReply) => void {
  let underWay = 0
  return ({ headers, raw }, reply) => {
    // A body whose length is not told may have any.
    if (Number(headers['content-length'] ?? Number.NaN) <= SMALL_BYTES) return
    // Its end has been told already.
    if (raw.socket.destroyed) return
    if (underWay >= AT_ONCE) throw overloaded()
    underWay++
    const timer = setTimeout(() => raw.destroy(), longestMs)
    raw.once('end', () => clearTimeout(timer))
    reply.raw.once('close', () => {
      clearTimeout(timer)
      underWay--
    })
  }
}
