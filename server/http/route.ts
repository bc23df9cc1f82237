import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import type { Db } from '../db/database.ts'
import type { AccountId, Role } from '../db/tables.ts'
import type { Endpoint, Scope } from './contract.ts'
import type { KeyedRequest } from './idempotency.ts'
import type { Form } from './uploads.ts'

type Typed<S> = S extends TSchema ? Static<S> : Record<string, never>

/** Who asks: the account, and its key or its member; `scopes: null` is every scope. */
export type Caller = {
  account: { id: AccountId; name: string; plan: string }
  /** As the audit log names it: `key:<id>` or `member:<id>`. */
  actor: string
  scopes: Scope[] | null
  /** null: a member who is signed in. */
  key: { id: string; name: string; expiresAt: Date | null } | null
  /** null: a key. */
  member: SignedIn | null
}

export type SignedIn = {
  id: string
  name: string
  email: string
  role: Role
  /** null: every agent. */
  agentIds: string[] | null
  loginId: string
  sessionId: string
  hasSecondFactor: boolean
}

/** What an earlier request with the same Idempotency-Key started. */
export type Replay = { generationId: string }

/** How a handler does what a repetition with the same Idempotency-Key must not do again. */
export type Repeatable = {
  /** Where it reads and writes: the transaction of the key for a POST that keeps everything in it (Keeps). */
  db: Db
  /** The key of a POST that has one. */
  idempotency: KeyedRequest | null
  /** The generation that an equal request before has started: the handler answers from it, starting nothing. */
  replay: Replay | null
  /** The delivery that an equal request before has begun: the handler answers from it, sending nothing. */
  deliveryId: string | null
  /** Runs an effect in one transaction with the key and what `work` answers, which the handler then answers. */
  once<A>(work: (db: Db) => Promise<A>): Promise<A>
}

/** What a handler gets: the checked input, and who asks. */
export type Call<E extends Endpoint> = Repeatable & {
  caller: Caller
  params: Typed<E['params']>
  query: Typed<E['query']>
  body: E['body'] extends TSchema ? Static<E['body']> : undefined
  /** The multipart/form-data body; null when the request has none. */
  form: Form | null
  request: FastifyRequest
  reply: FastifyReply
}

/** Sent by the handler itself (a stream): the wrapper leaves the reply alone. */
export const SENT = Symbol('sent')

export type Handler<E extends Endpoint> = (
  call: Call<E>,
) => Promise<Static<E['success']['schema']> | typeof SENT>

/** What of a POST is in the transaction of its Idempotency-Key. */
export type Keeps =
  /** All that the handler does, with its answer: it uses no other database than `call.db`, and calls no other server. */
  | 'everything'
  /** What it does with `once`, or in a transaction that begins with takeKey; it does anything else outside. */
  | 'effect'
  /** Nothing: there is no effect that could be doubled. The answer is kept afterwards. */
  | 'answer'

/** A contract with the function that serves it. */
export type Route = { endpoint: Endpoint; handle: (call: Call<Endpoint>) => Promise<unknown>; keeps: Keeps }

export function route<const E extends Endpoint>(
  endpoint: E,
  handle: Handler<NoInfer<E>>,
  keeps: Keeps = 'everything',
): Route {
  return { endpoint, handle: handle as unknown as Route['handle'], keeps }
}
