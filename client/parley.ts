import type { NumberedEvent, StoredMessage } from './events.ts'
import { errorOf, ParleyError } from './parley-error.ts'
import { pathTo } from './paths.ts'
import { attempt, createTries, type Patience, usualPatience } from './patience.ts'
import { randomKey } from './random-key.ts'
import { type ReadOptions, readStream, type StreamSource } from './read-stream.ts'

export type ParleyOptions = {
  /** The base URL of version 2 of the API: `https://host/api/v2`, or a route of your own that adds the key. */
  baseUrl: string
  headers?:
    | Record<string, string>
    | (() => Record<string, string> | Promise<Record<string, string>>)
    | undefined
  fetch?: typeof globalThis.fetch | undefined
  patience?: Partial<Patience> | undefined
}

export type ChatBody = {
  /** Omit it to continue from the results of client actions. */
  message?: string | undefined
  conversationId?: string | undefined
  /** The id of the user that a new conversation is tagged with. */
  userId?: string | undefined
}

type TrialChannel =
  | 'chat_widget'
  | 'help_page'
  | 'center_stage'
  | 'side_panel'
  | 'messaging'
  | 'api'
  | 'email'
  | 'android_sdk'
  | 'ios_sdk'
  | 'phone'
  | 'search'

/** What differs from the agent's saved settings and from an ordinary chat when an answer is tried out. */
export type TrialBody = {
  /** Omit it to continue from the results of client actions. */
  message?: string | undefined
  conversationId?: string | undefined
  channel?: TrialChannel | undefined
  contactId?: string | undefined
  instructions?: string | undefined
  model?: string | undefined
  temp?: number | undefined
}

export type SendOptions = {
  /** Aborting only closes the connection; the service continues with the answer. */
  signal?: AbortSignal | undefined
  /** Use the same key for the same request. The default is a new key. */
  idempotencyKey?: string | undefined
}

export type Answer = AsyncGenerator<NumberedEvent, void>

/** All methods throw ParleyError, or another error when the service cannot be reached or does not respond. */
export type Parley = {
  chat(agentId: string, body: ChatBody, options?: SendOptions): Promise<Answer>
  /** Tries out an answer in the playground, which needs the scope agents:write. */
  tryOut(agentId: string, body: TrialBody, options?: SendOptions): Promise<Answer>
  /** Generates a new answer to the user message before the given assistant message. */
  retry(agentId: string, conversationId: string, messageId: string, options?: SendOptions): Promise<Answer>
  /** Returns the answer that is being generated, from its start, or null when there is none. */
  reattach(
    agentId: string,
    conversationId: string,
    options?: Pick<SendOptions, 'signal'>,
  ): Promise<Answer | null>
  /** Ends the running answer and keeps its text so far. */
  stop(agentId: string, conversationId: string): Promise<{ stopped: boolean }>
  /** Throws RESOURCE_TOOL_CALL_NOT_FOUND when the call no longer waits for a result. */
  toolResult(agentId: string, conversationId: string, toolCallId: string, output: unknown): Promise<void>
  /** Returns a page of messages. Pages go back from the newest message; each page lists the oldest message first. */
  messages(
    agentId: string,
    conversationId: string,
    options?: PageOptions & Pick<SendOptions, 'signal'>,
  ): Promise<MessagePage>
}

type PageOptions = { cursor?: string | undefined; limit?: number | undefined }

type MessagePage = {
  data: StoredMessage[]
  pagination: { cursor: string | null; hasMore: boolean; total: number }
}

type Sent = { headers?: Record<string, string>; signal: AbortSignal }

/** This many messages are enough to find an answer again, even when others came after it. */
const NEWEST = 50

export function createParley(options: ParleyOptions): Parley {
  const patience = { ...usualPatience, ...options.patience }
  const base = options.baseUrl.replace(/\/+$/, '')

  async function request(path: string, init: Sent & { method?: 'POST'; body?: string }): Promise<Response> {
    const { headers } = options
    const own = typeof headers === 'function' ? await headers() : headers
    // `fetch` is called as a method because browsers reject a call with another `this`.
    const response = await (options.fetch ?? globalThis.fetch)(`${base}${path}`, {
      ...init,
      headers: { ...own, ...init.headers },
    })
    if (!response.ok) throw await errorOf(response)
    return response
  }

  const post = (path: string, body: unknown, init: Sent): Promise<Response> =>
    request(path, {
      ...init,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...init.headers },
      body: JSON.stringify(body),
    })

  async function openRunning(
    path: string,
    lastEventId: number | undefined,
    signal: AbortSignal,
  ): Promise<Response | null> {
    const headers: Record<string, string> = { accept: 'text/event-stream' }
    if (lastEventId !== undefined) headers['last-event-id'] = String(lastEventId)
    const response = await request(path, { headers, signal })
    return response.status === 204 ? null : response
  }

  async function readMessages(
    agentId: string,
    conversationId: string,
    { cursor, limit }: PageOptions,
    signal: AbortSignal,
  ): Promise<MessagePage> {
    const query = new URLSearchParams()
    if (cursor !== undefined) query.set('cursor', cursor)
    if (limit !== undefined) query.set('limit', String(limit))
    const response = await request(`${pathTo('listMessages', { agentId, conversationId })}?${query}`, {
      signal,
    })
    return (await response.json()) as MessagePage
  }

  const messages: Parley['messages'] = (agentId, conversationId, { signal, ...page } = {}) =>
    firstAnswer((one) => readMessages(agentId, conversationId, page, one), patience, signal)

  /**
   * Returns the newest message if the next generation can continue it, which is possible only if it contains tool
   * calls.
   */
  async function continuable(
    agentId: string,
    conversationId: string,
    signal?: AbortSignal,
  ): Promise<StoredMessage | undefined> {
    const newest = (await messages(agentId, conversationId, { limit: 1, signal })).data.at(-1)
    return newest?.parts.some(({ type }) => type === 'tool-call') ? newest : undefined
  }

  /** Sends a request that starts an answer. The idempotency key makes it safe to send the request again. */
  async function send(
    agentId: string,
    path: string,
    body: object,
    { signal, idempotencyKey = randomKey() }: SendOptions,
    known: Pick<ReadOptions, 'conversationId' | 'before'>,
  ): Promise<Answer> {
    const headers = { accept: 'text/event-stream', 'idempotency-key': idempotencyKey }
    const start = (one: AbortSignal): Promise<Response> =>
      post(path, { ...body, stream: true }, { headers, signal: one })
    const source: StreamSource = {
      open: ({ conversationId, lastEventId }, one) =>
        conversationId === undefined || lastEventId === undefined
          ? start(one)
          : openRunning(pathTo('reattach', { agentId, conversationId }), lastEventId, one),
      messages: async (conversationId, one) =>
        (await readMessages(agentId, conversationId, { limit: NEWEST }, one)).data,
    }
    const first = await firstAnswer(start, patience, signal)
    return readStream(first, source, { ...known, patience, signal })
  }

  return {
    async chat(agentId, body, sendOptions = {}) {
      const { conversationId, message } = body
      const before =
        message === undefined && conversationId !== undefined
          ? await continuable(agentId, conversationId, sendOptions.signal)
          : undefined
      return send(agentId, pathTo('chat', { agentId }), body, sendOptions, { conversationId, before })
    },
    tryOut: (agentId, body, sendOptions = {}) =>
      send(agentId, pathTo('runPlayground', { agentId }), body, sendOptions, {
        conversationId: body.conversationId,
      }),
    retry: (agentId, conversationId, messageId, sendOptions = {}) =>
      send(agentId, pathTo('retry', { agentId, conversationId }), { messageId }, sendOptions, {
        conversationId,
      }),
    async reattach(agentId, conversationId, { signal } = {}) {
      const path = pathTo('reattach', { agentId, conversationId })
      // The message is read before the stream is opened; afterwards it could already contain what the stream will
      // deliver.
      const before = await continuable(agentId, conversationId, signal)
      const first = await firstAnswer((one) => openRunning(path, undefined, one), patience, signal)
      if (!first) return null
      const source: StreamSource = {
        open: ({ lastEventId }, one) => openRunning(path, lastEventId, one),
        messages: async (id, one) => (await readMessages(agentId, id, { limit: NEWEST }, one)).data,
      }
      return readStream(first, source, { conversationId, before, showBefore: true, patience, signal })
    },
    async stop(agentId, conversationId) {
      const path = pathTo('stop', { agentId, conversationId })
      const stop = async (one: AbortSignal) =>
        (await (await post(path, {}, { signal: one })).json()) as { data: { stopped: boolean } }
      return (await firstAnswer(stop, patience)).data
    },
    async toolResult(agentId, conversationId, toolCallId, output) {
      const path = pathTo('submitToolResult', { agentId, conversationId })
      const headers = { 'idempotency-key': randomKey() }
      await firstAnswer((one) => post(path, { toolCallId, output }, { headers, signal: one }), patience)
    },
    messages,
  }
}

/** Repeats a request until there is a response, so the request must be safe to repeat. An error response is final. */
async function firstAnswer<T>(
  start: (signal: AbortSignal) => Promise<T>,
  patience: Patience,
  signal?: AbortSignal,
): Promise<T> {
  const tries = createTries(patience, patience.firstAnswerMs)
  for (;;) {
    try {
      return await attempt(start, patience, signal)
    } catch (error) {
      if (error instanceof ParleyError) throw error
      await tries.pause(error, signal)
    }
  }
}
