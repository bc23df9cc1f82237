import { errorOf, ParleyError } from '../../client/parley-error.ts'
import { withDeadline } from '../../client/parse-events.ts'
import type { Kept } from './kept.ts'
import type {
  Appearance,
  Conversation,
  ConversationSummary,
  Details,
  Feedback,
  Outgoing,
  SentFile,
} from './types.ts'

/** The time limit for a response, except for uploads and for the body of a stream. */
const SILENCE_MS = 30_000
const UPLOAD_MS = 300_000

/** Whether the site's sign-in of the visitor has expired, or the site no longer signs visitors in. */
export const isSignedOut = (error: unknown): boolean =>
  error instanceof ParleyError && error.code === 'VISITOR_IDENTITY_INVALID'

export type Sent = { conversationId: string; messageId: string; answering: boolean }

/** The widget's API for one agent. All methods throw ParleyError, or whatever fetch throws. */
export type Api = ReturnType<typeof createApi>

export function createApi(agentId: string, kept: Kept) {
  const base = `/api/widget/agents/${encodeURIComponent(agentId)}`
  const conversationPath = (id: string): string => `${base}/conversations/${encodeURIComponent(id)}`

  type Init = {
    method?: string
    body?: unknown
    form?: FormData
    headers?: Record<string, string>
    signal?: AbortSignal
    outlivesPage?: boolean
  }

  async function request(
    path: string,
    { method = 'GET', body, form, headers, signal, outlivesPage = false }: Init = {},
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
        ...(secret ? { authorization: `Bearer ${kept.userId() === null ? '' : 'signed.'}${secret}` } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: form ?? (body === undefined ? undefined : JSON.stringify(body)),
      keepalive: outlivesPage,
    })
    try {
      const response = await withDeadline(asked, form ? UPLOAD_MS : SILENCE_MS, signal)
      if (!response.ok) throw await errorOf(response)
      return response
    } catch (error) {
      given.abort()
      if (isSignedOut(error)) kept.setUserId(null)
      throw error
    }
  }

  const json = async <T>(path: string, init?: Init): Promise<T> => {
    const response = await request(path, init)
    return withDeadline(response.json(), SILENCE_MS, init?.signal)
  }
  const data = async <T>(path: string, init?: Init): Promise<T> => (await json<{ data: T }>(path, init)).data

  return {
    identify(token: string) {
      kept.requireSecret()
      return data<{ userId: string }>(`${base}/identity`, { method: 'POST', body: { token } })
    },
    appearance: () => json<Appearance>(base),
    write(
      { messageId, text, files, isSpoken, conversationId }: Outgoing,
      page: string | null,
      signal: AbortSignal,
    ) {
      kept.requireSecret()
      const body = {
        messageId,
        message: text,
        ...(files.length === 0 ? {} : { attachments: files.map(({ id }) => id) }),
        ...(conversationId === null ? {} : { conversationId }),
        ...(isSpoken ? { voice: true } : {}),
        ...(page === null ? {} : { page }),
      }
      return data<Sent>(`${base}/messages`, { method: 'POST', body, signal })
    },
    upload(file: File, signal: AbortSignal) {
      kept.requireSecret()
      const form = new FormData()
      form.set('file', file)
      return data<SentFile>(`${base}/attachments`, { method: 'POST', form, signal })
    },
    conversations: () => data<ConversationSummary[]>(`${base}/conversations`),
    conversation: (id: string, signal: AbortSignal) => data<Conversation>(conversationPath(id), { signal }),
    /** Opens the stream of the answer that is being generated, or returns null when there is none. */
    async stream(id: string, lastEventId: string | undefined, signal: AbortSignal) {
      const headers: Record<string, string> =
        lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
      const { status, body } = await request(`${conversationPath(id)}/stream`, { headers, signal })
      return status === 204 ? null : body
    },
    /** Opens a stream of the conversation's version, which is sent at once and after every change. */
    async events(id: string, signal: AbortSignal) {
      const { body } = await request(`${conversationPath(id)}/events`, { signal })
      return body
    },
    stop: (id: string) => data<{ stopped: boolean }>(`${conversationPath(id)}/stop`, { method: 'POST' }),
    submitResult: (id: string, toolCallId: string, output: unknown, signal: AbortSignal) =>
      data<{ answering: boolean }>(`${conversationPath(id)}/tool-result`, {
        method: 'POST',
        body: { toolCallId, output },
        signal,
        // An action may navigate to another page.
        outlivesPage: true,
      }),
    rate: (id: string, messageId: string, feedback: Feedback) =>
      json<unknown>(`${conversationPath(id)}/messages/${encodeURIComponent(messageId)}/feedback`, {
        method: 'PATCH',
        body: { feedback },
      }),
    askForPerson(conversationId: string | null, page: string | null) {
      kept.requireSecret()
      const body = {
        ...(conversationId === null ? {} : { conversationId }),
        ...(page === null ? {} : { page }),
      }
      return data<{ conversationId: string }>(`${base}/person`, { method: 'POST', body })
    },
    leaveDetails(details: Details, conversationId: string | null) {
      kept.requireSecret()
      const body = { ...details, ...(conversationId === null ? {} : { conversationId }) }
      return json<unknown>(`${base}/leads`, { method: 'POST', body })
    },
  }
}
