import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Passes connections on to a port of this machine, and breaks them on request. */
type BreakingProxy = {
  port: number
  /** Breaks the next connection over which the server sends so many bytes, before the last of them arrive. */
  breakAfter(bytes: number): void
  /** How many connections were broken. */
  broken(): number
  close(): Promise<void>
}

export async function startBreakingProxy(target: number): Promise<BreakingProxy> {
  const sockets = new Set<Socket>()
  let limit = Number.POSITIVE_INFINITY
  let broken = 0
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    let sent = 0
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(socket)
          client.destroy()
          upstream.destroy()
        })
    }
    client.pipe(upstream)
    upstream.on('data', (bytes: Buffer) => {
      sent += bytes.length
      if (sent > limit) {
        limit = Number.POSITIVE_INFINITY
        broken++
        client.destroy()
        upstream.destroy()
      } else if (!client.write(bytes)) {
        upstream.pause()
        client.once('drain', () => upstream.resume())
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    breakAfter: (bytes) => {
      limit = bytes
    },
    broken: () => broken,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
