import type { Static, TSchema } from 'typebox'
import { randomKey } from '../../client/random-key.ts'
import { createRequests, type RequestInput } from '../../client/requests.ts'
import { type Upload, uploadFile } from '../../client/upload-file.ts'
import type * as accounts from '../../server/accounts/contract.ts'
import type * as members from '../../server/accounts/members/contract.ts'
import type * as signIn from '../../server/accounts/sign-in/contract.ts'
import type * as actions from '../../server/actions/contract.ts'
import type * as health from '../../server/admin/health/contract.ts'
import type * as agents from '../../server/agents/contract.ts'
import type * as guardrails from '../../server/agents/guardrails/contract.ts'
import type * as email from '../../server/channels/email/contract.ts'
import type * as mailDomain from '../../server/channels/email/domain/contract.ts'
import type * as mailSignIn from '../../server/channels/email/oauth/contract.ts'
import type * as original from '../../server/channels/email/original/contract.ts'
import type * as messaging from '../../server/channels/messaging/contract.ts'
import type * as channels from '../../server/channels/registry/contract.ts'
import type * as citing from '../../server/conversations/citations/contract.ts'
import type * as conversations from '../../server/conversations/contract.ts'
import type * as explanations from '../../server/conversations/explanations/contract.ts'
import type * as exports from '../../server/conversations/exports/contract.ts'
import type * as insights from '../../server/conversations/insights/contract.ts'
import type * as topics from '../../server/conversations/insights/topics/contract.ts'
import type * as unanswered from '../../server/conversations/insights/unanswered/contract.ts'
import type * as answerProposals from '../../server/conversations/playground/answer-tests/cases/proposals/contract.ts'
import type * as answerTests from '../../server/conversations/playground/answer-tests/contract.ts'
import type * as playground from '../../server/conversations/playground/contract.ts'
import type * as drafts from '../../server/conversations/playground/drafts/contract.ts'
import type * as runs from '../../server/conversations/runs/contract.ts'
import type * as search from '../../server/conversations/search/contract.ts'
import type * as helpdesk from '../../server/inbox/contract.ts'
import type * as deskMail from '../../server/inbox/mail/contract.ts'
import type * as desk from '../../server/inbox/settings/contract.ts'
import type * as spam from '../../server/inbox/spam/contract.ts'
import type * as team from '../../server/inbox/team/contract.ts'
import type * as inbox from '../../server/inbox/views/contract.ts'
import type * as knowledge from '../../server/knowledge/contract.ts'
import type * as evaluations from '../../server/knowledge/evaluations/contract.ts'
import type * as pagesConnection from '../../server/knowledge/notion/contract.ts'
import type * as sourceDetails from '../../server/knowledge/sources/details/contract.ts'
import type * as ticketKnowledge from '../../server/knowledge/tickets/contract.ts'
import type * as people from '../../server/people/contacts/contract.ts'
import type * as privacy from '../../server/people/privacy/contract.ts'
import type * as testCases from '../../server/people/privacy/test-cases/contract.ts'
import { base } from './base.ts'
import { onlyOnce } from './only-once.ts'
import { inSession } from './session-end.ts'

type Named<E> = E extends { method: infer M extends string; path: infer P extends string }
  ? `${M} ${P}`
  : never
type Table<M> = { [K in keyof M as Named<M[K]>]: M[K] }
/** The contracts of the service, keyed by method and path. Only their types are imported. */
type Contracts = Table<typeof accounts> &
  Table<typeof actions> &
  Table<typeof agents> &
  Table<typeof channels> &
  Table<typeof citing> &
  Table<typeof conversations> &
  Table<typeof explanations> &
  Table<typeof pagesConnection> &
  Table<typeof sourceDetails> &
  Table<typeof ticketKnowledge> &
  Table<typeof desk> &
  Table<typeof deskMail> &
  Table<typeof email> &
  Table<typeof evaluations> &
  Table<typeof exports> &
  Table<typeof health> &
  Table<typeof helpdesk> &
  Table<typeof inbox> &
  Table<typeof insights> &
  Table<typeof knowledge> &
  Table<typeof members> &
  Table<typeof mailDomain> &
  Table<typeof mailSignIn> &
  Table<typeof messaging> &
  Table<typeof people> &
  Table<typeof playground> &
  Table<typeof answerTests> &
  Table<typeof answerProposals> &
  Table<typeof testCases> &
  Table<typeof drafts> &
  Table<typeof guardrails> &
  Table<typeof privacy> &
  Table<typeof runs> &
  Table<typeof search> &
  Table<typeof signIn> &
  Table<typeof spam> &
  Table<typeof original> &
  Table<typeof team> &
  Table<typeof topics> &
  Table<typeof unanswered>

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type PathOf<M extends Method> = keyof Contracts extends infer K
  ? K extends `${M} ${infer P}`
    ? P
    : never
  : never
type Of<M extends Method, P extends string> = `${M} ${P}` extends infer K extends keyof Contracts
  ? Contracts[K]
  : never
/** What is undefined is left out of the URL. */
type QueryOf<C> = C extends { query: infer S extends TSchema }
  ? { [N in keyof Static<S>]?: Static<S>[N] | undefined }
  : undefined
/**
 * The parts of a request. A mapped type, because the compiler would combine the parts of each endpoint with those of
 * every other one if this were an intersection of conditional types.
 */
type Parts<C> = {
  [N in 'params' | 'body' as C extends Record<N, TSchema> ? N : never]: C extends Record<
    N,
    infer S extends TSchema
  >
    ? Static<S>
    : never
} & { query?: QueryOf<C>; headers?: Record<string, string> }
export type InputOf<M extends Method, P extends string> = Parts<Of<M, P>>
export type OutputOf<M extends Method, P extends string> =
  Of<M, P> extends { success: { schema: infer S extends TSchema } } ? Static<S> : never
type Args<M extends Method, P extends string> =
  object extends InputOf<M, P> ? [input?: InputOf<M, P>] : [input: InputOf<M, P>]

export const baseUrl = `${base}/api/v2`
/** This header tells the service that the request was not triggered by a page of another site. */
export const headers = { 'x-parley-session': '1' }
const requests = createRequests({ baseUrl, headers, fetch: patientFetch })

/** The longest wait for a rate limit; beyond it, the request is reported as refused. */
const MAX_WAIT_MS = 10_000
const MAX_WAITS = 3
const SPREAD_MS = 1_000

/**
 * Sends a request again when the member's rate limit allows it; a refused request has no effect. Someone who goes
 * through an inbox by keyboard reaches that limit.
 */
async function patientFetch(url: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  for (let waits = 0; ; waits++) {
    const response = await fetch(url, init)
    const waitMs = Number(response.headers.get('retry-after') ?? Number.NaN) * 1_000
    const isLimit = response.status === 429 && !String(url).includes('/sign-in')
    if (!isLimit || waits === MAX_WAITS || !(waitMs <= MAX_WAIT_MS)) return response
    await response.body?.cancel()
    await new Promise((resolve) => setTimeout(resolve, waitMs + Math.random() * SPREAD_MS))
    init?.signal?.throwIfAborted()
  }
}

export const follow = requests.follow

/**
 * Gives the input of a request its plain type. Where the type still depends on the path, the compiler would form the
 * union of the inputs of every endpoint, which is too large for it.
 */
const plain = (input: unknown): RequestInput => input ?? {}

/**
 * Sends one request to version 2 of the API, given its method and path. The contract determines the types. When the
 * session has ended, it is sent again after the member has signed in. A change that equals one that is still running is
 * not sent a second time.
 */
export function call<M extends Method, P extends PathOf<M>>(
  method: M,
  path: P,
  ...[input]: Args<M, P>
): Promise<OutputOf<M, P>> {
  const sent = plain(input)
  const send = (key: Record<string, string>) =>
    inSession(() =>
      requests.request<OutputOf<M, P>>(method, path, { ...sent, headers: { ...sent.headers, ...key } }),
    )
  return method === 'GET' ? send({}) : onlyOnce(`${method} ${path} ${JSON.stringify(sent)}`, send)
}

/** What a GET returns, with its ETag where it has one. */
type Versioned<P extends PathOf<'GET'>> = OutputOf<'GET', P> & { etag?: string }

/** Returns the options of `useQuery` for a GET request. */
export function reading<P extends PathOf<'GET'>>(path: P, ...[input]: Args<'GET', P>) {
  const sent = plain(input)
  return {
    queryKey: [path, sent] as const,
    queryFn: async ({ signal }: { signal: AbortSignal }) => {
      let etag: string | null = null
      const onHeaders = (received: Headers): void => {
        etag = received.get('etag')
      }
      const answer = await requests.request<Versioned<P>>('GET', path, { ...sent, signal, onHeaders })
      return etag === null ? answer : { ...answer, etag }
    },
  }
}

/** Yields the lines of an export. The contract determines the input. */
export async function* exporting<M extends Method, P extends PathOf<M>>(
  method: M,
  path: P,
  ...[input]: Args<M, P>
): AsyncGenerator<{ type: string }, void> {
  const open = () => requests.lines(method, path, plain(input)) as AsyncGenerator<{ type: string }, void>
  // The first line shows whether the session is still valid.
  const [lines, first] = await inSession(async () => {
    const opened = open()
    return [opened, await opened.next()] as const
  })
  if (first.done) return
  yield first.value
  yield* lines
}

type Listed<T> = { data: T[]; pagination: { cursor: string | null; hasMore: boolean } }

/** Returns the options of `useInfiniteQuery` for a paginated list. */
export function listing<P extends PathOf<'GET'>>(path: P, ...[input]: Args<'GET', P>) {
  type Item = OutputOf<'GET', P> extends Listed<infer T> ? T : never
  return {
    queryKey: [path, input ?? {}, 'pages'] as const,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }: { signal: AbortSignal; pageParam: string | undefined }) => {
      const { query, ...rest } = { query: {}, ...input }
      return requests.request<Listed<Item> & OutputOf<'GET', P>>('GET', path, {
        ...rest,
        query: { ...query, cursor: pageParam },
        signal,
      })
    },
    getNextPageParam: ({ pagination }: Listed<Item>) =>
      pagination.hasMore ? (pagination.cursor ?? undefined) : undefined,
  }
}

export const uploadSource = (agentId: string, file: File, input: Pick<Upload, 'onProgress'> = {}) =>
  upload<OutputOf<'POST', '/agents/{agentId}/sources'>>({
    ...input,
    path: '/agents/{agentId}/sources',
    params: { agentId },
    file,
    fields: { name: file.name },
  })

export const uploadAttachment = (agentId: string, file: File, input: Pick<Upload, 'onProgress' | 'signal'>) =>
  upload<OutputOf<'POST', '/agents/{agentId}/helpdesk/attachments'>>({
    ...input,
    path: '/agents/{agentId}/helpdesk/attachments',
    params: { agentId },
    file,
  })

/** Each upload has a key of its own, since two files may be equal. */
function upload<T>(input: Upload): Promise<T> {
  const own = { 'idempotency-key': randomKey() }
  return inSession(() => uploadFile<T>({ baseUrl, headers }, { ...input, headers: own }))
}

export type Agent = Versioned<'/agents/{agentId}'>
export type AgentDraft = Versioned<'/agents/{agentId}/draft'>
export type Source = OutputOf<'GET', '/agents/{agentId}/sources/{sourceId}'>
export type Ticket = OutputOf<'GET', '/agents/{agentId}/helpdesk/tickets/{ticketNumber}'>
export type TicketMessage = OutputOf<
  'GET',
  '/agents/{agentId}/helpdesk/tickets/{ticketNumber}/messages'
>['data'][number]
export type Message = OutputOf<
  'GET',
  '/agents/{agentId}/conversations/{conversationId}/messages'
>['data'][number]
export type Cited = NonNullable<NonNullable<Message['metadata']>['sources']>[number]
