import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

type Exchange = { request: IncomingMessage; response: ServerResponse }

/** The connections that can carry no further request, nor the rest of the present one. */
const broken = new WeakSet<Duplex>()

export const isBroken = ({ socket }: IncomingMessage): boolean => broken.has(socket)

/**
 * Ends the body of a form as if its sender had broken it off, so that the request is answered. It is not destroyed,
 * because that would destroy the connection.
 */
export function breakOff(request: IncomingMessage, error: Error): void {
  if (broken.has(request.socket)) return
  broken.add(request.socket)
  if (request.listenerCount('error') > 0) request.emit('error', error)
}

/** Whether a body is multipart. It is not read until a handler asks for its parts; see `createUploads`. */
export const isForm = ({ headers }: IncomingMessage): boolean =>
  /^multipart\/form-data\b/i.test(headers['content-type'] ?? '')

/**
 * Returns what is to be asked about a connection whose bytes are not HTTP, or end in the middle of a request: whether a
 * request on it is still being answered. Then that answer is sent, and closes the connection; otherwise nothing is done.
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
    if (!request || !response || response.headersSent || socket.destroyed) return false
    if (!request.complete && !isForm(request)) return false
    if (request.complete) broken.add(socket)
    else breakOff(request, error)
    return true
  }
}
