import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AnswerEvent, StoredMessage } from '../../client/events.ts'

/** A request to a service that handles requests as a script says. */
export type Seen = {
  method: string
  /** The path without the query. */
  path: string
  headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: bodies have every shape
  body: any
}

type ScriptedService = { url: string; seen: Seen[]; close(): Promise<void> }

export async function startScriptedService(
  script: (seen: Seen, response: ServerResponse) => void | Promise<void>,
): Promise<ScriptedService> {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const entry: Seen = {
      method: request.method ?? '',
      path: (request.url ?? '').replace(/\?.*/, ''),
      headers: request.headers,
      body: text === '' ? undefined : JSON.parse(text),
    }
    seen.push(entry)
    try {
      await script(entry, response)
    } catch (error) {
      sendError(response, 422, `SCRIPT_FAILED: ${error}`)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export const sendJson = (response: ServerResponse, body: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

export const sendMessages = (response: ServerResponse, data: StoredMessage[]): void =>
  sendJson(response, { data, pagination: { cursor: null, hasMore: false, total: data.length } })

export const sendError = (
  response: ServerResponse,
  status: number,
  code: string,
  headers: Record<string, string> = {},
): void => {
  response
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify({ error: { code, message: `It is ${code}.`, details: { field: 'A sentence.' } } }))
}

export const frameOf = (id: number, event: AnswerEvent): string =>
  `id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

/**
 * Sends events whose ids start at `first`. After `cutAfter` events it destroys the socket instead of ending the
 * stream.
 */
export function sendEvents(
  response: ServerResponse,
  events: AnswerEvent[],
  { first = 1, cutAfter = Number.POSITIVE_INFINITY }: { first?: number; cutAfter?: number | undefined } = {},
): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
  const frames = events.map((event, index) => frameOf(first + index, event))
  if (cutAfter >= events.length) response.end(`${frames.join('')}data: [DONE]\n\n`)
  else response.write(`: ping\n\n${frames.slice(0, cutAfter).join('')}`, () => response.destroy())
}
