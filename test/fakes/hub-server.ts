import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type HubServer = {
  url: string
  /** What it was asked for, in order: the path, and the range if there was one. */
  asked: string[]
  /** The connection of the next response with a file ends after so many bytes, when they have arrived; null for whole ones. */
  cut: { after: number; arrived: () => Promise<unknown> } | null
  /** Another status for every file, as when a repository is closed, and the one after the cut; null for none. */
  status: number | null
  statusAfterCut: number | null
  /** Bytes that are sent in the place of a file's. */
  replaced: Map<string, Buffer>
  /** Milliseconds between the pieces of a file. */
  pauseMs: number
  close(): Promise<void>
}

const PIECE = 65_536

/**
 * Serves files at the paths of the hub, `/{repository}/resolve/{revision}/{file}`: it redirects to another path, as the hub does
 * for large files, which has an ETag and takes ranges.
 */
export async function startHub(
  repository: string,
  revision: string,
  files: ReadonlyMap<string, Buffer>,
): Promise<HubServer> {
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    hub.asked.push(request.headers.range ? `${path} ${request.headers.range}` : path)
    const prefix = `/${repository}/resolve/${revision}/`
    if (path.startsWith(prefix)) {
      const name = path.slice(prefix.length)
      if (hub.status !== null) return response.writeHead(hub.status).end()
      if (!files.has(name)) return response.writeHead(404, { 'x-error-code': 'EntryNotFound' }).end()
      return response
        .writeHead(302, { 'x-repo-commit': revision, location: `/blobs/${encodeURIComponent(name)}` })
        .end()
    }
    const name = decodeURIComponent(path.replace('/blobs/', ''))
    const bytes = hub.replaced.get(name) ?? files.get(name)
    if (!bytes) return response.writeHead(404).end()
    const [, from] = /^bytes=(\d+)-$/.exec(request.headers.range ?? '') ?? []
    const start = Number(from ?? 0)
    if (start >= bytes.length) return response.writeHead(416).end()
    response.writeHead(from === undefined ? 200 : 206, {
      etag: `"${createHash('sha256').update(bytes).digest('hex')}"`,
      'content-length': bytes.length - start,
      ...(from === undefined
        ? {}
        : { 'content-range': `bytes ${start}-${bytes.length - 1}/${bytes.length}` }),
    })
    const { cut } = hub
    const end = cut === null ? bytes.length : Math.min(bytes.length, start + cut.after)
    if (cut !== null) hub.status = hub.statusAfterCut
    hub.cut = null
    hub.statusAfterCut = null
    for (let at = start; at < end && !response.destroyed; at += PIECE) {
      await new Promise((written) => response.write(bytes.subarray(at, Math.min(end, at + PIECE)), written))
      if (hub.pauseMs > 0) await new Promise((later) => setTimeout(later, hub.pauseMs))
    }
    await cut?.arrived()
    if (end < bytes.length) response.destroy()
    else response.end()
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const hub: HubServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    cut: null,
    status: null,
    statusAfterCut: null,
    replaced: new Map(),
    pauseMs: 0,
    async close() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
  return hub
}
