import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Transform } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { addressBucket } from './address-bucket.ts'
import type { BodyBudget, BodyBudgets } from './body-budget.ts'
import { ApiError } from './errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Its bodies are not read into memory, but streamed to the disk. */
    spooled?: true
  }
}

/** A body that brings less than this in each stretch of time is cut off. */
export type Pace = { everyMs: number; bytesPerSecond: number }

export const PACE: Pace = { everyMs: 30_000, bytesPerSecond: 4_096 }

/** A body that arrives in one read of the network is counted at once, a larger one as it comes. */
const SMALL_BYTES = 65_536
/** What a piece takes besides its bytes: a body may come one byte at a time. */
const PIECE_BYTES = 128
/**
 * A client may send its whole body before it reads the response. The rest of a refused body is therefore read and
 * discarded, for this long and for this many connections at once. Beyond that, the connection is closed with the response.
 */
const LINGER_MS = 5_000
export const MOST_LINGERING = 32

export const overloaded = (): ApiError =>
  new ApiError('SERVICE_OVERLOADED', { headers: { 'retry-after': '5' } })

/** Whose bytes these are: an account's, or an address's when nobody has shown a key. */
export const holderOf = ({ caller, ip }: FastifyRequest): string =>
  caller ? caller.account.id : addressBucket(ip)

/**
 * Holds every body against its budget while it is read and until it is answered, and cuts off those that do not come.
 * All of that after the onRequest hooks have said who sends. Uploads go to the disk instead, see `createUploads`.
 */
export function admitBodies(app: FastifyInstance, budgets: BodyBudgets, pace: Pace): void {
  app.addHook('preParsing', (request, reply, payload, done) => {
    const { raw, headers } = request
    const length = Number(headers['content-length'] ?? (headers['transfer-encoding'] ? Number.NaN : 0))
    if (length === 0 || isUpload(headers)) return done(null, payload)
    cutWhenSlow(raw, pace)
    const inMemory = request.caller ? budgets.accounts : budgets.addresses
    const budget = request.routeOptions.config.spooled ? budgets.spooled : inMemory
    const hold = holding(budget, holderOf(request), reply)
    // Holding back what is read costs more than counting it.
    if (length <= SMALL_BYTES) return hold(length) ? done(null, payload) : done(overloaded())
    done(null, counted(raw, hold))
  })
  let lingering = 0
  app.addHook('onResponse', async ({ raw }) => {
    if (raw.complete || raw.destroyed) return
    if (lingering >= MOST_LINGERING) return void raw.destroy()
    lingering++
    const timer = setTimeout(() => raw.destroy(), LINGER_MS).unref()
    const stop = (): void => {
      clearTimeout(timer)
      raw.off('end', stop).off('close', stop)
      lingering--
    }
    raw.once('end', stop).once('close', stop)
  })
}

/** Its parser leaves the body to whoever asks for the parts. */
const isUpload = (headers: IncomingHttpHeaders): boolean =>
  /^multipart\/form-data\b/i.test(headers['content-type'] ?? '')

/** Counts bytes until the answer is over. */
function holding(budget: BodyBudget, holder: string, reply: FastifyReply): (bytes: number) => boolean {
  let held = 0
  return (bytes) => {
    if (reply.raw.closed || !budget.take(holder, bytes)) return false
    if (held === 0) reply.raw.once('close', () => budget.give(holder, held))
    held += bytes
    return true
  }
}

function counted(raw: IncomingMessage, hold: (bytes: number) => boolean): Transform {
  const through = new Transform({
    transform(piece: Buffer, _encoding, next) {
      if (hold(piece.length + PIECE_BYTES)) next(null, piece)
      else next(overloaded())
    },
  })
  raw.on('error', (error) => through.destroy(error))
  through.on('error', () => raw.unpipe(through))
  return raw.pipe(through)
}

/** Cuts the connection of a body that does not come. */
export function cutWhenSlow(raw: IncomingMessage, { everyMs, bytesPerSecond }: Pace): void {
  if (raw.complete) return
  let before = raw.socket.bytesRead
  const look = (): void => {
    const { bytesRead } = raw.socket
    if (bytesRead - before < (everyMs / 1_000) * bytesPerSecond && !raw.complete) raw.destroy()
    before = bytesRead
  }
  // What came while this process was busy is read first.
  const timer = setInterval(() => setImmediate(look), everyMs)
  const stop = (): void => clearInterval(timer)
  raw.once('end', stop).once('close', stop)
}
