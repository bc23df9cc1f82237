import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { type Duplex, Transform } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../errors.ts'
import { addressBucket } from '../limits/rate-limit.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Request bodies of this route are streamed to disk instead of being read into memory. */
    spooled?: true
  }
}

/** The connection of a body that arrives more slowly than this, in any interval, is closed. */
export type Pace = { everyMs: number; bytesPerSecond: number }

export const PACE: Pace = { everyMs: 30_000, bytesPerSecond: 4_096 }

/**
 * A body up to this size arrives in one read of the network and is charged to the budget at once; a larger one is
 * charged as it arrives.
 */
const SMALL_BYTES = 65_536
/** The memory that a chunk takes besides its bytes, which counts when a body arrives one byte at a time. */
const PIECE_BYTES = 128
/**
 * A client may send its whole body before it reads the response. The rest of a refused body is therefore read and
 * discarded, for this long and for this many connections at once. Beyond that, the connection is closed with the response.
 */
const LINGER_MS = 5_000
export const MAX_LINGERING = 32

export const overloaded = (): ApiError => new ApiError('SERVICE_OVERLOADED')

/**
 * Returns the tenant that a body is charged to: the caller's account, or the address of a request without a caller.
 */
export const tenantOf = ({ caller, ip }: FastifyRequest): string =>
  caller ? caller.account.id : addressBucket(ip)

/**
 * Charges every body to its budget from when it is read until the response is sent, and closes connections whose
 * bodies arrive too slowly. It runs after the onRequest hooks have identified the caller. Uploads go to disk instead;
 * see `createUploads`.
 */
export function admitBodies(app: FastifyInstance, budgets: BodyBudgets, pace: Pace): void {
  app.addHook('preParsing', (request, reply, payload, done) => {
    const { raw, headers } = request
    const length = Number(headers['content-length'] ?? (headers['transfer-encoding'] ? Number.NaN : 0))
    if (length === 0 || isForm(raw)) return done(null, payload)
    cutWhenSlow(raw, pace, () => raw.destroy())
    const inMemory = request.caller ? budgets.accounts : budgets.addresses
    const budget = request.routeOptions.config.spooled ? budgets.spooled : inMemory
    const hold = holding(budget, tenantOf(request), reply)
    // Counting a small body as it arrives would cost more than charging its declared length at once.
    if (length <= SMALL_BYTES) return hold(length) ? done(null, payload) : done(overloaded())
    done(null, counted(raw, hold))
  })
  let lingering = 0
  app.addHook('onResponse', async ({ raw }) => {
    const { socket } = raw
    const cannotGoOn = isBroken(raw)
    if ((raw.complete && !cannotGoOn) || socket.destroyed) return
    // A client that has ended its side sends nothing more.
    if (lingering >= MAX_LINGERING || socket.readableEnded) {
      raw.destroy()
      return socket.destroySoon()
    }
    if (cannotGoOn) socket.end()
    else raw.unpipe().resume()
    lingering++
    const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref()
    const stop = (): void => {
      clearTimeout(timer)
      raw.off('end', stop)
      socket.off('close', leave)
      lingering--
    }
    const leave = (): void => {
      stop()
      // Node does not do this for a request that has been answered.
      raw.destroy()
    }
    if (!cannotGoOn) raw.once('end', stop)
    socket.once('close', leave)
  })
}

/** Returns a function that charges bytes to the tenant's budget. They are given back when the response closes. */
function holding(budget: BodyBudget, tenant: string, reply: FastifyReply): (bytes: number) => boolean {
  let held = 0
  return (bytes) => {
    if (reply.raw.closed || !budget.take(tenant, bytes)) return false
    if (held === 0) reply.raw.once('close', () => budget.give(tenant, held))
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

/** Calls `cut` when a body arrives more slowly than `pace` allows. */
export function cutWhenSlow(raw: IncomingMessage, { everyMs, bytesPerSecond }: Pace, cut: () => void): void {
  if (raw.complete) return
  let before = raw.socket.bytesRead
  const look = (): void => {
    const { bytesRead } = raw.socket
    if (bytesRead - before < (everyMs / 1_000) * bytesPerSecond && !raw.complete) cut()
    before = bytesRead
  }
  // Check after the bytes that arrived while this process was busy have been read.
  const timer = setInterval(() => setImmediate(look), everyMs)
  const stop = (): void => clearInterval(timer)
  raw.once('end', stop).once('close', stop)
}

/** Limits the bytes of request bodies that this process holds, in total and for each tenant. */
type BodyBudget = {
  /** Charges bytes to the tenant. Returns false when the budget or the tenant's share does not allow it. */
  take(tenant: string, bytes: number): boolean
  give(tenant: string, bytes: number): void
}

/**
 * The budgets for bodies. In memory, accounts and addresses without a valid key have separate budgets, so that
 * clients without a key cannot use up the memory meant for those with one. `spooled` is for bodies on disk, which are
 * charged to addresses.
 */
type BodyBudgets = { accounts: BodyBudget; addresses: BodyBudget; spooled: BodyBudget }

const MB = 1_048_576

/** Creates the budgets of a process. A parsed body takes several times its size in memory. */
export const createBodyBudgets = (): BodyBudgets => ({
  accounts: createBodyBudget(96 * MB, 32 * MB),
  addresses: createBodyBudget(96 * MB, 48 * MB),
  spooled: createBodyBudget(1_024 * MB, 256 * MB),
})

/** Creates a budget of `total` bytes, of which one tenant can have `share`. */
function createBodyBudget(total: number, share: number): BodyBudget {
  const ofTenant = new Map<string, number>()
  let used = 0
  return {
    take(tenant, bytes) {
      const has = ofTenant.get(tenant) ?? 0
      if (used + bytes > total || has + bytes > share) return false
      used += bytes
      ofTenant.set(tenant, has + bytes)
      return true
    },
    give(tenant, bytes) {
      used -= bytes
      const left = (ofTenant.get(tenant) ?? 0) - bytes
      if (left > 0) ofTenant.set(tenant, left)
      else ofTenant.delete(tenant)
    },
  }
}

type Exchange = { request: IncomingMessage; response: ServerResponse }

/** Connections from which nothing more can be read: neither the rest of the current request nor another one. */
const broken = new WeakSet<Duplex>()

export const isBroken = ({ socket }: IncomingMessage): boolean => broken.has(socket)

/**
 * Ends the body of a form as if its sender had broken it off, so that the request is answered. The request is not
 * destroyed, because that would destroy the connection.
 */
export function breakOff(request: IncomingMessage, error: Error): void {
  if (broken.has(request.socket)) return
  broken.add(request.socket)
  if (request.listenerCount('error') > 0) request.emit('error', error)
}

/** Whether a body is multipart. It is not read until a handler asks for its parts; see `createUploads`. */
const isForm = ({ headers }: IncomingMessage): boolean =>
  /^multipart\/form-data\b/i.test(headers['content-type'] ?? '')

/**
 * Returns a handler for connections that send bytes which are not HTTP, or that end in the middle of a request. The
 * handler returns whether a request is still being answered. If so, the connection is closed after the answer; a
 * response that has already begun is cut off.
 */
export function watchConnections(server: Server): (error: Error, socket: Duplex) => boolean {
  const exchanges = new WeakMap<Duplex, Exchange>()
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    exchanges.set(request.socket, { request, response })
  })
  return (error, socket) => {
    // Every further chunk of such a connection is an error.
    if (broken.has(socket)) return true
    const { request, response } = exchanges.get(socket) ?? {}
    if (!request || !response || socket.destroyed) return false
    if (response.headersSent) {
      // An error in the middle of a response would be read as a part of it.
      if (!response.writableEnded) socket.destroy()
      return !response.writableEnded
    }
    if (!request.complete && !isForm(request)) return false
    if (request.complete) broken.add(socket)
    else breakOff(request, error)
    return true
  }
}
