import type { FastifyReply } from 'fastify'
import { ApiError } from '../../../platform/http/errors.ts'

/** The most open streams per address and process. Many visitors may share an address, and one may have several tabs. */
const MAX_STREAMS = 100

/** Counts streams while they are open. */
type OpenStreams = (bucket: string, reply: FastifyReply) => void

/** Throws RATE_LIMIT_TOO_MANY_REQUESTS when there are too many. */
export function countStreams(): OpenStreams {
  const open = new Map<string, number>()
  return (bucket, { raw }) => {
    const count = open.get(bucket) ?? 0
    if (count >= MAX_STREAMS) throw new ApiError('RATE_LIMIT_TOO_MANY_REQUESTS')
    open.set(bucket, count + 1)
    raw.once('close', () => {
      const left = (open.get(bucket) ?? 1) - 1
      if (left > 0) open.set(bucket, left)
      else open.delete(bucket)
    })
  }
}
