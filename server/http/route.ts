import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import type { AccountId } from '../db/tables.ts'
import type { Endpoint, Scope } from './contract.ts'

type Typed<S> = S extends TSchema ? Static<S> : Record<string, never>

/** Who asks: the account that owns the key, and the key; `scopes: null` is every scope. */
export type Caller = {
  account: { id: AccountId; name: string; plan: string }
  key: { id: string; name: string; scopes: Scope[] | null; expiresAt: Date | null }
}

/** What an earlier request with the same Idempotency-Key started. */
export type Replay = { generationId: string }

/** What a handler gets: the checked input, and who asks. */
export type Call<E extends Endpoint> = {
  caller: Caller
  params: Typed<E['params']>
  query: Typed<E['query']>
  body: E['body'] extends TSchema ? Static<E['body']> : undefined
  /** The key of a POST that has one. A handler that starts a generation binds it (bindGeneration). */
  idempotency: { key: string } | null
  /** The generation bound to the key by an equal request before: the handler answers from it, starting nothing. */
  replay: Replay | null
  request: FastifyRequest
  reply: FastifyReply
}

/** Sent by the handler itself (a stream): the wrapper leaves the reply alone. */
export const SENT = Symbol('sent')

export type Handler<E extends Endpoint> = (
  call: Call<E>,
) => Promise<Static<E['success']['schema']> | typeof SENT>

/** A contract with the function that serves it. */
export type Route = { endpoint: Endpoint; handle: (call: Call<Endpoint>) => Promise<unknown> }

export function route<const E extends Endpoint>(endpoint: E, handle: Handler<NoInfer<E>>): Route {
  return { endpoint, handle: handle as unknown as Route['handle'] }
}
