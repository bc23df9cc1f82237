import type { FastifyReply, FastifyRequest } from 'fastify'
import { holderOf, overloaded } from '../../http/admit-bodies.ts'

/** Smaller ones are no more than any other endpoint reads. */
const SMALL_BYTES = 1_048_576
const AT_ONCE = 8
/** Of one address: whoever knows the id of an agent can send one. */
const OF_ADDRESS = 4
/** Until the last byte of a large body has come. */
const LONGEST_MS = 60_000

/** Admits a few large bodies at a time, before they are read. Throws SERVICE_OVERLOADED. */
export function admitLargeBodies({
  longestMs = LONGEST_MS,
} = {}): (request: FastifyRequest, reply: FastifyReply) => void {
  let underWay = 0
  const ofAddress = new Map<string, number>()
  return (request, reply) => {
    const { headers, raw } = request
    // A body whose length is not told may have any.
    if (Number(headers['content-length'] ?? Number.NaN) <= SMALL_BYTES) return
    // Its end has been told already.
    if (raw.socket.destroyed) return
    const holder = holderOf(request)
    const has = ofAddress.get(holder) ?? 0
    if (underWay >= AT_ONCE || has >= OF_ADDRESS) throw overloaded()
    underWay++
    ofAddress.set(holder, has + 1)
    const timer = setTimeout(() => raw.destroy(), longestMs)
    raw.once('end', () => clearTimeout(timer))
    reply.raw.once('close', () => {
      clearTimeout(timer)
      underWay--
      const left = (ofAddress.get(holder) ?? 1) - 1
      if (left > 0) ofAddress.set(holder, left)
      else ofAddress.delete(holder)
    })
  }
}
