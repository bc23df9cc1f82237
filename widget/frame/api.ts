import { errorOf, ParleyError } from '../../client/parley-error.ts'
import { withDeadline } from '../../client/parse-events.ts'
import { attempt } from '../../client/patience.ts'
import { WIDGET_API } from '../../server/channels/widget/page/api-path.ts'
import { BASE } from './base.ts'
import type { BodyOf, MethodOf, ParamsOf, Path, ResponseOf } from './endpoints.ts'
import type { StoredChat } from './kept.ts'
import type { Details, Feedback, Outgoing } from './types.ts'

/** The time limit for a response, except for uploads and for the body of a stream. */
const SILENCE_MS = 30_000
const UPLOAD_MS = 300_000

const CONVERSATION = '/agents/{agentId}/conversations/{conversationId}'

/** Whether the site's sign-in of the visitor has expired, or the site no longer signs visitors in. */
export const isSignedOut = (error: unknown): boolean =>
  error instanceof ParleyError && error.code === 'VISITOR_IDENTITY_INVALID'

/** The widget's API for one agent. All methods throw ParleyError, or whatever fetch throws. */
export type Api = ReturnType<typeof createApi>

export function createApi(agentId: string, kept: StoredChat) {
  /** `names` are the parameters of the path. What is sent is checked against the contract with this method and path. */
  type Init<P extends Path> = {
    names?: ParamsOf<P>
    body?: BodyOf<P>
    form?: FormData
    headers?: Record<string, string>
    signal?: AbortSignal
    outlivesPage?: boolean
  }

  async function request<P extends Path>(
    method: MethodOf<P>,
    path: P,
    { names, body, form, headers, signal, outlivesPage = false }: Init<P> = {},
  ): Promise<Response> {
    const secret = kept.secret()
    const values: Record<string, string> = { agentId, ...names }
    const url =
      BASE + WIDGET_API + path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name] ?? ''))
    const sent = form ?? (body === undefined ? undefined : JSON.stringify(body))
    const ask = (one: AbortSignal): Promise<Response> =>
      fetch(url, {
        method,
        credentials: 'omit',
        cache: 'no-store',
        signal: one,
        headers: {
          ...headers,
          ...(secret ? { authorization: `Bearer ${kept.userId() === null ? '' : 'signed.'}${secret}` } : {}),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(sent === undefined ? {} : { body: sent }),
        keepalive: outlivesPage,
      })
    try {
      const response = await attempt(ask, { responseMs: form ? UPLOAD_MS : SILENCE_MS }, signal)
      if (!response.ok) throw await errorOf(response)
      return response
    } catch (error) {
      if (isSignedOut(error)) kept.setUserId(null)
      throw error
    }
  }

  const json = async <P extends Path>(
    method: MethodOf<P>,
    path: P,
    init?: Init<P>,
  ): Promise<ResponseOf<P>> => {
    const response = await request(method, path, init)
    return withDeadline(response.json(), SILENCE_MS, init?.signal)
  }

  return {
    async identify(token: string) {
      kept.requireSecret()
      return (await json('POST', '/agents/{agentId}/identity', { body: { token } })).data
    },
    appearance: () => json('GET', '/agents/{agentId}'),
    async write(
      { messageId, text, files, isSpoken, conversationId, accepts }: Outgoing,
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
        ...(accepts === undefined ? {} : { accepts }),
        ...(page === null ? {} : { page }),
      }
      return (await json('POST', '/agents/{agentId}/messages', { body, signal })).data
    },
    async upload(file: File, signal: AbortSignal) {
      kept.requireSecret()
      const form = new FormData()
      form.set('file', file)
      return (await json('POST', '/agents/{agentId}/attachments', { form, signal })).data
    },
    conversations: async () => (await json('GET', '/agents/{agentId}/conversations')).data,
    conversation: async (conversationId: string, signal: AbortSignal) =>
      (await json('GET', CONVERSATION, { names: { conversationId }, signal })).data,
    /** Opens the stream of the answer that is being generated, or returns null when there is none. */
    async stream(conversationId: string, lastEventId: string | undefined, signal: AbortSignal) {
      const headers: Record<string, string> =
        lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
      const init = { names: { conversationId }, headers, signal }
      const { status, body } = await request('GET', `${CONVERSATION}/stream`, init)
      return status === 204 ? null : body
    },
    /** Opens a stream of the conversation's version, which is sent at once and after every change. */
    async events(conversationId: string, signal: AbortSignal) {
      const init = { names: { conversationId }, signal }
      return (await request('GET', `${CONVERSATION}/events`, init)).body
    },
    stop: async (conversationId: string) =>
      (await json('POST', `${CONVERSATION}/stop`, { names: { conversationId } })).data,
    submitResult: async (conversationId: string, toolCallId: string, output: unknown, signal: AbortSignal) =>
      (
        await json('POST', `${CONVERSATION}/tool-result`, {
          names: { conversationId },
          body: { toolCallId, output },
          signal,
          // An action may navigate to another page.
          outlivesPage: true,
        })
      ).data,
    rate: (conversationId: string, messageId: string, feedback: Feedback) =>
      json('PATCH', `${CONVERSATION}/messages/{messageId}/feedback`, {
        names: { conversationId, messageId },
        body: { feedback },
      }),
    async askForPerson(conversationId: string | null, page: string | null) {
      kept.requireSecret()
      const body = {
        ...(conversationId === null ? {} : { conversationId }),
        ...(page === null ? {} : { page }),
      }
      return (await json('POST', '/agents/{agentId}/person', { body })).data
    },
    leaveDetails(details: Details, conversationId: string | null) {
      kept.requireSecret()
      const body = { ...details, ...(conversationId === null ? {} : { conversationId }) }
      return json('POST', '/agents/{agentId}/leads', { body })
    },
  }
}
