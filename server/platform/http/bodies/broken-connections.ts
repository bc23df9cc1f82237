import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

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
export const isForm = ({ headers }: IncomingMessage): boolean =>
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
