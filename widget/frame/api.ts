import { errorOf } from '../../client/parley-error.ts'
import { withDeadline } from '../../client/parse-events.ts'
import type { Kept } from './kept.ts'
import type { Appearance, Conversation, ConversationSummary, Details, Feedback, Outgoing } from './types.ts'

/** Longer than any answer but a stream may take. */
const SILENCE_MS = 30_000

export type Sent = { conversationId: string; messageId: string; answering: boolean }

/** The widget's API for one agent. Everything throws ParleyError, or what fetch throws. */
export type Api = ReturnType<typeof createApi>

export function createApi(agentId: string, kept: Kept) {
  const base = `/api/widget/agents/${encodeURIComponent(agentId)}`
  const conversationPath = (id: string): string => `${base}/conversations/${encodeURIComponent(id)}`

  type Init = {
    method?: string
    body?: unknown
    headers?: Record<string, string>
    signal?: AbortSignal
    outlivesPage?: boolean
  }

  async function request(
    path: string,
    { method = 'GET', body, headers, signal, outlivesPage = false }: Init = {},
  ): Promise<Response> {
    const given = new AbortController()
    signal?.addEventListener('abort', () => given.abort(signal.reason), { once: true })
    const secret = kept.secret()
    const asked = fetch(path, {
      method,
      credentials: 'omit',
      cache: 'no-store',
      signal: given.signal,
      headers: {
        ...headers,
        ...(secret ? { authorization: `Bearer ${secret}` } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      keepalive: outlivesPage,
    })
    try {
      const response = await withDeadline(asked, SILENCE_MS, signal)
      if (!response.ok) throw await errorOf(response)
      return response
    } catch (error) {
      given.abort()
      throw error
    }
  }

  const json = async <T>(path: string, init?: Init): Promise<T> => {
    const response = await request(path, init)
    return withDeadline(response.json(), SILENCE_MS, init?.signal)
  }
  const data = async <T>(path: string, init?: Init): Promise<T> => (await json<{ data: T }>(path, init)).data

  return {
    appearance: () => json<Appearance>(base),
    write({ messageId, text, isSpoken, conversationId }: Outgoing, signal: AbortSignal) {
      kept.requireSecret()
      const body = {
        messageId,
        message: text,
        ...(conversationId === null ? {} : { conversationId }),
        ...(isSpoken ? { voice: true } : {}),
      }
      return data<Sent>(`${base}/messages`, { method: 'POST', body, signal })
    },
    conversations: () => data<ConversationSummary[]>(`${base}/conversations`),
    conversation: (id: string, signal: AbortSignal) => data<Conversation>(conversationPath(id), { signal }),
    /** null: no answer is being made. */
    async stream(id: string, lastEventId: string | undefined, signal: AbortSignal) {
      const headers: Record<string, string> =
        lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
      const { status, body } = await request(`${conversationPath(id)}/stream`, { headers, signal })
      return status === 204 ? null : body
    },
    stop: (id: string) => data<{ stopped: boolean }>(`${conversationPath(id)}/stop`, { method: 'POST' }),
    submitResult: (id: string, toolCallId: string, output: unknown, signal: AbortSignal) =>
      data<{ answering: boolean }>(`${conversationPath(id)}/tool-result`, {
        method: 'POST',
        body: { toolCallId, output },
        signal,
        // An action may lead to another page.
        outlivesPage: true,
      }),
    rate: (id: string, messageId: string, feedback: Feedback) =>
      json<unknown>(`${conversationPath(id)}/messages/${encodeURIComponent(messageId)}/feedback`, {
        method: 'PATCH',
        body: { feedback },
      }),
    leaveDetails(details: Details, conversationId: string | null) {
      kept.requireSecret()
      const body = { ...details, ...(conversationId === null ? {} : { conversationId }) }
      return json<unknown>(`${base}/leads`, { method: 'POST', body })
    },
  }
}
