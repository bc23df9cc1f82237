import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'

export type Backend = {
  /** The service's API: https://host/api/v2 */
  url: string
  key: string
  agentId: string
  /** Who is signed in, by your own session; null for nobody. */
  userOf(request: IncomingMessage): string | null
}

const ROUTE =
  /^\/parley(\/agents\/([\w-]+)\/(?:chat|conversations\/([\w-]+)\/(?:stream|messages|stop|retry|tool-result)))(\?.*)?$/

/** Passes on what a chat page needs, adds the key, and lets each user into their own conversations only. */
export async function passOn(
  request: IncomingMessage,
  response: ServerResponse,
  backend: Backend,
): Promise<void> {
  const [, path, agentId, id, query = ''] = ROUTE.exec(request.url ?? '') ?? []
  const userId = backend.userOf(request)
  if (!path || agentId !== backend.agentId || userId === null) return void response.writeHead(404).end()
  const authorization = `Bearer ${backend.key}`
  const body = request.method === 'POST' ? ((await json(request)) as Record<string, unknown>) : undefined
  const conversationId = id ?? body?.conversationId
  if (conversationId !== undefined) {
    const conversation = `/agents/${agentId}/conversations/${encodeURIComponent(String(conversationId))}`
    const found = await fetch(`${backend.url}${conversation}`, { headers: { authorization } })
    const { data } = (await found.json()) as { data?: { userId: string } }
    if (data?.userId !== userId) return void response.writeHead(404).end()
  }
  const headers: Record<string, string> = { authorization }
  for (const name of ['content-type', 'idempotency-key', 'last-event-id']) {
    const value = request.headers[name]
    if (typeof value === 'string') headers[name] = value
  }
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  const answer = await fetch(`${backend.url}${path}${query}`, {
    method: request.method ?? 'GET',
    headers,
    body: body ? JSON.stringify(path.endsWith('/chat') ? { ...body, userId } : body) : null,
    signal: gone.signal,
  })
  for (const name of ['content-type', 'cache-control', 'x-accel-buffering', 'retry-after', 'x-request-id']) {
    const value = answer.headers.get(name)
    if (value) response.setHeader(name, value)
  }
  response.writeHead(answer.status).flushHeaders()
  // Piece by piece as it comes; anything that collects or compresses the body would hold the answer back.
  if (answer.body) await pipeline(answer.body, response)
  else response.end()
}

const page = (agentId: string): string => `<!doctype html>
<title>Chat</title>
<body data-agent="${agentId}"><main id="chat"></main><script type="module" src="/page.js"></script></body>`

/** The page at /, its script (the bundled page) at /page.js, and the service at /parley. */
export function createBackend(backend: Backend, script: () => Promise<string>) {
  return createServer((request, response) => {
    if (request.url === '/')
      return void response.setHeader('content-type', 'text/html').end(page(backend.agentId))
    const work =
      request.url === '/page.js'
        ? script().then((text) => void response.setHeader('content-type', 'text/javascript').end(text))
        : passOn(request, response, backend)
    work.catch(() => (response.headersSent ? response.destroy() : response.writeHead(502).end()))
  })
}

if (import.meta.main) {
  const { PARLEY_URL = 'http://127.0.0.1:8080/api/v2', PARLEY_KEY = '', AGENT_ID = '' } = process.env
  const backend = { url: PARLEY_URL, key: PARLEY_KEY, agentId: AGENT_ID, userOf: () => 'visitor-1' }
  createBackend(backend, () => readFile('page.js', 'utf8')).listen(3000, '127.0.0.1')
}
