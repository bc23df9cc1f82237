import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Selectable } from 'kysely'
import type { Static, TSchema } from 'typebox'
import type { Db } from '../db/database.ts'
import type { Role } from '../db/tables/accounts.ts'
import type { AgentsTable } from '../db/tables/agents.ts'
import type { AccountId } from '../db/tables/columns.ts'
import type { Form } from './bodies/uploads.ts'
import type { Endpoint, Scope } from './contract.ts'
import type { KeyedRequest } from './idempotency/idempotency.ts'

type Typed<S> = S extends TSchema ? Static<S> : Record<string, never>

/**
 * The caller of an endpoint: the account, and either its key or its member. `scopes` is null when every scope is
 * granted.
 */
export type Caller = {
  account: { id: AccountId; name: string; plan: string }
  /** The caller's name in the audit log: `key:<id>` or `member:<id>`. */
  actor: string
  scopes: Scope[] | null
  /** The API key; null for a member who is signed in. */
  key: { id: string; name: string; expiresAt: Date | null } | null
  /** The member who is signed in; null for an API key. */
  member: SignedIn | null
}

export type SignedIn = {
  id: string
  name: string
  email: string
  role: Role
  /** The agents that the member is limited to; null means every agent. */
  agentIds: string[] | null
  loginId: string
  sessionId: string
  hasSecondFactor: boolean
}

/** What an earlier request with the same Idempotency-Key started. */
export type Replay = { generationId: string }

/** What a handler uses for effects that a repetition with the same Idempotency-Key must not repeat. */
export type Repeatable = {
  /** The database for the handler to use; for a POST that keeps everything (Keeps), the transaction of its key. */
  db: Db
  /** The Idempotency-Key of a POST; null when it has none. */
  idempotency: KeyedRequest | null
  /** The generation that an earlier equal request has started. The handler responds from it and starts nothing. */
  replay: Replay | null
  /** The delivery that an earlier equal request has begun. The handler responds from it and sends nothing. */
  deliveryId: string | null
  /**
   * Runs an effect in one transaction that also stores the key and the result of `work`, which the handler then
   * returns.
   */
  once<A>(work: (db: Db) => Promise<A>): Promise<A>
}

/** The arguments of a check: the validated input and the caller. */
export type CheckedRequest<E extends Endpoint> = Repeatable & {
  caller: Caller
  params: Typed<E['params']>
  query: Typed<E['query']>
  body: E['body'] extends TSchema ? Static<E['body']> : undefined
  /** The multipart/form-data body; null when the request has none. */
  form: Form | null
  request: FastifyRequest
  reply: FastifyReply
} & Referring<E>

/** An endpoint whose path names an agent has `ref`: the account id and the ids of the path. */
type Referring<E extends Endpoint> = E['path'] extends `${string}{agentId}${string}`
  ? { ref: { accountId: AccountId } & Typed<E['params']> }
  : unknown

/** The arguments of a handler: those of its check, what the check returned, and the agent that the path names. */
export type Call<E extends Endpoint, C = unknown, F extends boolean = false> = CheckedRequest<E> & {
  checked: C
} & (F extends true
    ? unknown
    : E['path'] extends `${string}{agentId}${string}`
      ? { agent: AgentRow }
      : unknown)

type AgentRow = Selectable<AgentsTable>

/**
 * Returned by a handler that has sent the response itself, such as a stream; the wrapper then leaves the reply alone.
 */
export const SENT = Symbol('sent')

type Handler<E extends Endpoint, C = unknown, F extends boolean = false> = (
  call: Call<E, C, F>,
) => Promise<Static<E['success']['schema']> | typeof SENT>

/** Which part of a POST runs in the transaction of its Idempotency-Key. */
export type IdempotencyMode =
  /**
   * Everything that the handler does, and its response. The handler uses no database but `call.db` and calls no other
   * server.
   */
  | 'transaction'
  /**
   * What the handler does with `once`, or in a transaction that begins with takeKey. Everything else runs outside of
   * it.
   */
  | 'manual'
  /** Nothing: there is no effect that could be doubled. The response is stored afterwards. */
  | 'response'

type Options<E extends Endpoint, C, F extends boolean> = {
  /** By default `transaction`. */
  idempotencyMode?: IdempotencyMode
  /**
   * Refuses what is wrong with the request by itself, beyond what the schema says. It runs before the agent is loaded,
   * and what it returns is the handler's `checked`.
   */
  check?: (call: CheckedRequest<E>) => C | Promise<C>
  /**
   * The handler finds the agent itself, because it locks the row or because its one statement does both. The wrapper
   * then does not load it.
   */
  findsAgent?: F
}

/** An endpoint's contract and what serves it. */
export type Route = {
  endpoint: Endpoint
  check: ((call: CheckedRequest<Endpoint>) => unknown) | undefined
  handle: (call: Call<Endpoint>) => Promise<unknown>
  idempotencyMode: IdempotencyMode
  /** The wrapper loads the agent that the path names. */
  loadsAgent: boolean
}

/**
 * A route of the table. The wrapper checks the request against the contract, runs `check`, loads the agent that the
 * path names (AGENT_NOT_FOUND), and then calls the handler.
 */
export function route<const E extends Endpoint>(endpoint: E, handle: Handler<NoInfer<E>>): Route
export function route<const E extends Endpoint, C, F extends boolean = false>(
  endpoint: E,
  options: Options<NoInfer<E>, C, F>,
  handle: Handler<NoInfer<E>, NoInfer<C>, NoInfer<F>>,
): Route
export function route(endpoint: Endpoint, ...given: unknown[]): Route {
  const handle = given.at(-1) as Route['handle']
  const {
    idempotencyMode = 'transaction',
    check,
    findsAgent = false,
  } = (given.length > 1 ? given[0] : {}) as Options<Endpoint, unknown, boolean>
  return {
    endpoint,
    check,
    handle,
    idempotencyMode,
    loadsAgent: !findsAgent && endpoint.path.includes('{agentId}'),
  }
}
