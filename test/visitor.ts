import { randomBytes, randomUUID } from 'node:crypto'
import type { Answer, Client, Service } from './start.ts'

/** A visitor of a website's chat, with the requests that their browser would send. */
export type Visitor = {
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  /** Sends a message and returns the `data` of the response. */
  write(
    message: string,
    more?: object,
  ): Promise<{ conversationId: string; messageId: string; answering: boolean }>
  /** Returns the same visitor, with the same secret, as signed in by the site. */
  signed(): Visitor
  /** Uploads a file for a message and returns the status and the body of the response. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  upload(name: string, content: string | Buffer): Promise<{ status: number; body: any }>
  /** Sends a GET request and returns the raw response. */
  raw(path: string): Promise<Response>
  /** Opens the stream of the answer that is being generated. */
  follow(conversationId: string, lastEventId?: string): Promise<Response>
  /** Returns the conversation as the visitor sees it. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  read(conversationId: string): Promise<any>
}

/** Returns a visitor of a public agent. */
export function visitorOf(
  service: Service,
  agentId: string,
  secret = randomBytes(32).toString('base64url'),
  prefix = '',
): Visitor {
  const base = `/api/widget/agents/${agentId}`
  const authorization = `Bearer ${prefix}${secret}`
  const request: Visitor['request'] = (method, path, body, headers) =>
    service.anonymous(method, path.startsWith('/api/') ? path : `${base}${path}`, body, {
      authorization,
      ...headers,
    })
  return {
    request,
    async write(message, more = {}) {
      const { status, body } = await request('POST', '/messages', {
        messageId: randomUUID(),
        message,
        ...more,
      })
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
      return body.data
    },
    signed: () => visitorOf(service, agentId, secret, 'signed.'),
    async upload(name, content) {
      const form = new FormData()
      form.set('file', new Blob([new Uint8Array(Buffer.from(content))]), name)
      const init = { method: 'POST', headers: { authorization }, body: form }
      const response = await fetch(`${service.url}${base}/attachments`, init)
      return { status: response.status, body: await response.json() }
    },
    raw: (path) => fetch(`${service.url}${base}${path}`, { headers: { authorization } }),
    follow: (conversationId, lastEventId) =>
      fetch(`${service.url}${base}/conversations/${conversationId}/stream`, {
        headers: { authorization, ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) },
      }),
    read: async (conversationId) => (await request('GET', `/conversations/${conversationId}`)).body.data,
  }
}

/** Creates a public agent and returns its id. */
export async function publicAgent(client: Client, fields: object = {}): Promise<string> {
  const { id } = (await client.request('POST', '/agents', { name: 'Agent', visibility: 'public' })).body
  if (Object.keys(fields).length > 0) {
    const { status, body } = await client.request('PUT', `/agents/${id}`, fields)
    if (status !== 200) throw new Error(JSON.stringify(body))
  }
  return id
}
