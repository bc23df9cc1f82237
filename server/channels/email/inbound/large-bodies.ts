import type { FastifyReply, FastifyRequest } from 'fastify'
import { overloaded, tenantOf } from '../../../platform/http/bodies/admit-bodies.ts'

/** Bodies up to this size are not limited, because every other endpoint reads as much. */
const SMALL_BYTES = 1_048_576
const AT_ONCE = 8
/** The most large bodies at once from one address, because anybody who knows the id of an agent can send one. */
const OF_ADDRESS = 4
/** The time within which a large body must arrive completely, in milliseconds. */
const MAX_MS = 60_000

/** Returns a hook that admits a few large bodies at a time, before they are read. It throws SERVICE_OVERLOADED. */
export function admitLargeBodies({
  maxMs = MAX_MS,
} = {}): (request: FastifyRequest, reply: FastifyReply) => void {
  let underWay = 0
  const ofAddress = new Map<string, number>()
  return (request, reply) => {
    const { headers, raw } = request
    // A body without a declared length may be of any size.
    if (Number(headers['content-length'] ?? Number.NaN) <= SMALL_BYTES) return
    // The connection has already ended, so the listeners below would not be called.
    if (raw.socket.destroyed) return
    const tenant = tenantOf(request)
    const has = ofAddress.get(tenant) ?? 0
    if (underWay >= AT_ONCE || has >= OF_ADDRESS) throw overloaded()
    underWay++
    ofAddress.set(tenant, has + 1)
    const timer = setTimeout(() => raw.destroy(), maxMs)
    raw.once('end', () => clearTimeout(timer))
    reply.raw.once('close', () => {
      clearTimeout(timer)
      underWay--
      const left = (ofAddress.get(tenant) ?? 1) - 1
      if (left > 0) ofAddress.set(tenant, left)
      else ofAddress.delete(tenant)
    })
  }
}
