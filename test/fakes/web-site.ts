import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Reply = { status?: number; headers?: Record<string, string>; body?: string | Uint8Array }
/** Handles a request to a path. It returns a reply, or writes the response itself. */
type Handler = (request: IncomingMessage, response: ServerResponse) => Reply | undefined

export type WebSite = {
  /** The base URL, http://127.0.0.1:PORT. */
  url: string
  /** 127.0.0.1:PORT, for ALLOWED_PRIVATE_HOSTS. */
  host: string
  /** The pages by path and query. Other requests are answered by `rest`, or with 404. */
  pages: Map<string, Reply | Handler>
  rest: Handler | null
  /** The requested paths, in order. */
  asked: string[]
  /** The current number of responses in progress; the next field is the maximum so far. */
  open: number
  mostOpen: number
  close(): Promise<void>
}

/** Starts a website on this machine. Its pages have an ETag and support conditional requests. */
export async function startWebSite(): Promise<WebSite> {
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    site.asked.push(path)
    site.open += 1
    site.mostOpen = Math.max(site.mostOpen, site.open)
    response.on('close', () => {
      site.open -= 1
    })
    const page = site.pages.get(path) ?? site.rest ?? { status: 404, body: 'nothing here' }
    const reply = typeof page === 'function' ? page(request, response) : page
    if (reply) send(request, response, reply)
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const site: WebSite = {
    url: `http://${host}`,
    host,
    pages: new Map(),
    rest: null,
    asked: [],
    open: 0,
    mostOpen: 0,
    async close() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
  return site
}

function send(request: IncomingMessage, response: ServerResponse, reply: Reply): void {
  const { status = 200, headers = {}, body = '' } = reply
  const all: Record<string, string> = { 'content-type': 'text/html; charset=utf-8', ...headers }
  if (all.etag && request.headers['if-none-match'] === all.etag) response.writeHead(304, all).end()
  else response.writeHead(status, all).end(body)
}

/** Returns a page with a title, a paragraph and links. */
export function page(title: string, text: string, links: string[] = [], head = ''): Reply {
  const list = links.map((link) => `<li><a href="${link}">Go</a></li>`).join('')
  return {
    body: `<!doctype html><html><head><title>${title}</title>${head}</head><body><nav><ul>${list}</ul></nav>
      <main><h1>${title}</h1><p>${text}</p></main></body></html>`,
  }
}

/** Returns a redirect to any location. Characters outside ASCII are sent as UTF-8. */
export const redirect = (location: string, status = 302): Reply => ({
  status,
  headers: { location: Buffer.from(location).toString('latin1') },
})
