import type { NumberedEvent, StoredMessage } from './events.ts'
import { errorOf, ParleyError } from './parley-error.ts'
import { createTries, type Patience, usualPatience } from './patience.ts'
import { readStream, type StreamSource } from './read-stream.ts'

export type ParleyOptions = {
  /** Where the paths of version 2 begin: `https://host/api/v2`, or a route of your own that adds the key. */
  baseUrl: string
  headers?: Record<string, string> | (() => Record<string, string> | Promise<Record<string, string>>)
  fetch?: typeof globalThis.fetch
  patience?: Partial<Patience>
}

export type ChatBody = {
  /** Left out to go on from the results of client actions. */
  message?: string
  conversationId?: string
  /** Tags a new conversation. */
  userId?: string
}

export type SendOptions = {
  /** Aborting only detaches: the service goes on with the answer. */
  signal?: AbortSignal
  /** Equal for equal requests; by default a new one. */
  idempotencyKey?: string
}

export type Answer = AsyncGenerator<NumberedEvent, void>

/** All methods throw ParleyError, or what fetch throws when the service cannot be reached. */
export type Parley = {
  chat(agentId: string, body: ChatBody, options?: SendOptions): Promise<Answer>
  /** Answers the user message before that assistant message again. */
  retry(agentId: string, conversationId: string, messageId: string, options?: SendOptions): Promise<Answer>
  /** The whole of the answer that is being made, from its start; null when none is. */
  reattach(
    agentId: string,
    conversationId: string,
    options?: Pick<SendOptions, 'signal'>,
  ): Promise<Answer | null>
  /** Ends the running answer and keeps what was said. */
  stop(agentId: string, conversationId: string): Promise<{ stopped: boolean }>
  /** Throws RESOURCE_TOOL_CALL_NOT_FOUND when the call does not wait for a result any more. */
  toolResult(agentId: string, conversationId: string, toolCallId: string, output: unknown): Promise<void>
  /** A page of messages, back from the newest, oldest first inside the page. */
  messages(
    agentId: string,
    conversationId: string,
    options?: { cursor?: string; limit?: number; signal?: AbortSignal },
  ): Promise<{
    data: StoredMessage[]
    pagination: { cursor: string | null; hasMore: boolean; total: number }
  }>
}

/** Enough to find an answer again, even when others were given after it. */
const NEWEST = 50

export function createParley(options: ParleyOptions): Parley {
  const patience = { ...usualPatience, ...options.patience }
  const base = options.baseUrl.replace(/\/+$/, '')

  async function request(path: string, init: RequestInit = {}): Promise<Response> {
    const { headers } = options
    const own = typeof headers === 'function' ? await headers() : headers
    // Not taken apart from its object: a browser's fetch refuses another `this`.
    const response = await (options.fetch ?? globalThis.fetch)(`${base}${path}`, {
      ...init,
      headers: { ...own, ...(init.headers as Record<string, string> | undefined) },
    })
    if (!response.ok) throw await errorOf(response)
    return response
  }

  const post = (path: string, body: unknown, init: RequestInit = {}): Promise<Response> =>
    request(path, {
      ...init,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(init.headers as Record<string, string> | undefined),
      },
      body: JSON.stringify(body),
    })

  const pathOf = (agentId: string, conversationId: string): string =>
    `/agents/${encodeURIComponent(agentId)}/conversations/${encodeURIComponent(conversationId)}`

  async function openRunning(
    path: string,
    lastEventId: number | undefined,
    signal?: AbortSignal,
  ): Promise<Response | null> {
    const headers: Record<string, string> = { accept: 'text/event-stream' }
    if (lastEventId !== undefined) headers['last-event-id'] = String(lastEventId)
    const response = await request(`${path}/stream`, { headers, signal })
    return response.status === 204 ? null : response
  }

  const messages: Parley['messages'] = async (agentId, conversationId, { cursor, limit, signal } = {}) => {
    const query = new URLSearchParams()
    if (cursor !== undefined) query.set('cursor', cursor)
    if (limit !== undefined) query.set('limit', String(limit))
    const response = await request(`${pathOf(agentId, conversationId)}/messages?${query}`, { signal })
    return (await response.json()) as Awaited<ReturnType<Parley['messages']>>
  }

  /** The newest message, when the next generation can go on with it: only results of calls lead to that. */
  async function continuable(
    agentId: string,
    conversationId: string,
    signal?: AbortSignal,
  ): Promise<StoredMessage | undefined> {
    const read = () => messages(agentId, conversationId, { limit: 1, signal })
    const newest = (await firstAnswer(read, patience, signal)).data.at(-1)
    return newest?.parts.some(({ type }) => type === 'tool-call') ? newest : undefined
  }

  /** Sends a request that starts an answer; the same key makes it safe to send it again. */
  async function send(
    agentId: string,
    path: string,
    body: object,
    { signal, idempotencyKey = randomKey() }: SendOptions,
    known: { conversationId?: string; before?: StoredMessage },
  ): Promise<Answer> {
    const headers = { accept: 'text/event-stream', 'idempotency-key': idempotencyKey }
    const start = (one: AbortSignal | undefined): Promise<Response> =>
      post(path, { ...body, stream: true }, { headers, signal: one })
    const source: StreamSource = {
      open: ({ conversationId, lastEventId }, one) =>
        conversationId === undefined || lastEventId === undefined
          ? start(one)
          : openRunning(pathOf(agentId, conversationId), lastEventId, one),
      messages: async (conversationId, one) =>
        (await messages(agentId, conversationId, { limit: NEWEST, signal: one })).data,
    }
    const first = await firstAnswer(() => start(signal), patience, signal)
    return readStream(first, source, { ...known, patience, signal })
  }

  return {
    async chat(agentId, body, sendOptions = {}) {
      const { conversationId, message } = body
      const before =
        message === undefined && conversationId !== undefined
          ? await continuable(agentId, conversationId, sendOptions.signal)
          : undefined
      const path = `/agents/${encodeURIComponent(agentId)}/chat`
      return send(agentId, path, body, sendOptions, { conversationId, before })
    },
    retry: (agentId, conversationId, messageId, sendOptions = {}) =>
      send(agentId, `${pathOf(agentId, conversationId)}/retry`, { messageId }, sendOptions, {
        conversationId,
      }),
    async reattach(agentId, conversationId, { signal } = {}) {
      const path = pathOf(agentId, conversationId)
      // Before the stream: afterwards it could hold what the stream is about to tell.
      const before = await continuable(agentId, conversationId, signal)
      const first = await firstAnswer(() => openRunning(path, undefined, signal), patience, signal)
      if (!first) return null
      const source: StreamSource = {
        open: ({ lastEventId }, one) => openRunning(path, lastEventId, one),
        messages: async (id, one) => (await messages(agentId, id, { limit: NEWEST, signal: one })).data,
      }
      return readStream(first, source, { conversationId, before, showBefore: true, patience, signal })
    },
    async stop(agentId, conversationId) {
      const path = `${pathOf(agentId, conversationId)}/stop`
      const response = await firstAnswer(() => post(path, {}), patience)
      return ((await response.json()) as { data: { stopped: boolean } }).data
    },
    async toolResult(agentId, conversationId, toolCallId, output) {
      const path = `${pathOf(agentId, conversationId)}/tool-result`
      const headers = { 'idempotency-key': randomKey() }
      await firstAnswer(() => post(path, { toolCallId, output }, { headers }), patience)
    },
    messages,
  }
}

/** Sends a request again while nobody answers, which has to do no harm; an answer that says no is final. */
async function firstAnswer<T>(start: () => Promise<T>, patience: Patience, signal?: AbortSignal): Promise<T> {
  const tries = createTries(patience, patience.firstAnswerMs)
  for (;;) {
    try {
      return await start()
    } catch (error) {
      if (error instanceof ParleyError) throw error
      await tries.pause(error, signal)
    }
  }
}

/** crypto.randomUUID is there only on secure pages. */
export const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )
