import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Transform } from 'node:stream'

/** A proxy between the service and its database that can lose connections as networks do. */
export type SilentProxy = {
  /** Returns `url` with the port of the proxy. */
  through(url: string): string
  /**
   * Simulates a peer that disappears silently: no bytes are passed on, nothing is closed, and new connections are
   * accepted but never served. Connections from that time stay dead even after `resume`.
   */
  goSilent(): void
  /** Delays each piece by this many milliseconds; 0 passes them on at once. */
  slowDown(ms: number): void
  /** Serves new connections again. */
  resume(): void
  /** Resets every connection. */
  cut(): void
  close(): Promise<void>
}

export async function startSilentProxy(target: string): Promise<SilentProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let isSilent = false
  let delayMs = 0
  const line = () =>
    new Transform({
      transform(piece, _encoding, done) {
        if (delayMs > 0) setTimeout(done, delayMs, null, piece)
        else done(null, piece)
      },
    })
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }
  const server = createServer((near) => {
    keep(near)
    if (isSilent) return void near.pause()
    const far = connect(Number(port), hostname)
    keep(far)
    near.pipe(line()).pipe(far)
    far.pipe(line()).pipe(near)
    near.on('close', () => near.isPaused() || far.destroy())
    far.on('close', () => far.isPaused() || near.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    through(url) {
      const changed = new URL(url)
      changed.port = String((server.address() as AddressInfo).port)
      return changed.href
    },
    goSilent() {
      isSilent = true
      for (const socket of sockets) {
        socket.unpipe()
        socket.pause()
      }
    },
    slowDown(ms) {
      delayMs = ms
    },
    resume() {
      isSilent = false
    },
    cut() {
      for (const socket of sockets) socket.resetAndDestroy()
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
