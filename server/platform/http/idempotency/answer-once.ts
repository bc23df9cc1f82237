import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../../db/database.ts'
import { transact } from '../../db/statements/transact.ts'
import { recordOf } from '../../unknown-values.ts'
import type { Form } from '../bodies/uploads.ts'
import type { Endpoint } from '../contract.ts'
import { ApiError } from '../errors.ts'
import type { Details } from '../input/validate.ts'
import { type Caller, type Repeatable, type Route, SENT } from '../route.ts'
import { type KeyedRequest, type KeyState, KeyTaken, keepAnswer, readKey, takeKey } from './idempotency.ts'

const REPLAYED = 'idempotency-replayed'
/**
 * The number of attempts. The state of a key may change between reading it and running the handler, when the key
 * expires or its reply ends.
 */
const TRIES = 3

/** A validated POST request with an Idempotency-Key. */
type Keyed = {
  route: Route
  caller: Caller
  key: string
  form: Form | null
  request: FastifyRequest
  reply: FastifyReply
}

type Run = (repeatable: Repeatable) => Promise<unknown>

/** Returns a problem for an Idempotency-Key that is not valid, or an empty object. */
export function checkKey(key: string | null): Details {
  if (key === null || /^[\x21-\x7e]{1,255}$/.test(key)) return {}
  return { 'Idempotency-Key': 'Must be 1 to 255 visible ASCII characters, sent once.' }
}

/** Returns what a handler gets for a request without a key: a repetition of it is a new request. */
export const unrepeatable = (db: Db): Repeatable => ({
  db,
  idempotency: null,
  replay: null,
  deliveryId: null,
  once: (work) => work(db),
})

/**
 * Runs the handler for the first of several equal requests with the same key, and serves the others from what the
 * first has committed. Returns SENT when a stored response was sent. An error leaves the key free. Throws
 * IDEMPOTENCY_KEY_REUSED when the key belongs to a different request, or when the first request takes longer than a
 * connection waits for locks.
 */
export async function answerOnce(db: Db, keyed: Keyed, run: Run): Promise<unknown> {
  const { route, caller, key, form, request, reply } = keyed
  const fingerprint = requestPrint(route.endpoint, request, form)
  const row: KeyedRequest = { accountId: caller.account.id, key, fingerprint }
  const asked = { ...unrepeatable(db), idempotency: row }
  // A handler that takes the key with its first statement need not check whether the key is free.
  const first = route.idempotencyMode === 'transaction' ? { is: 'free' as const } : await readKey(db, row)
  for (let state = first, tries = 1; ; state = await readKey(db, row)) {
    try {
      return await serve(state)
    } catch (error) {
      if (!(error instanceof KeyTaken) || tries++ === TRIES) throw error
    }
  }

  async function serve(state: KeyState): Promise<unknown> {
    switch (state.is) {
      case 'free':
        return runFirst(db, row, route, run)
      case 'answered':
        return sendStored(reply, state.status, state.text)
      case 'generation':
        // Set it before the handler runs, because the handler may send the headers itself.
        reply.header(REPLAYED, 'true')
        return run({ ...asked, replay: { generationId: state.generationId } })
      case 'delivery':
        reply.header(REPLAYED, 'true')
        return run({ ...asked, deliveryId: state.deliveryId })
      case 'other-request':
        throw new ApiError('IDEMPOTENCY_KEY_REUSED')
    }
  }
}

async function runFirst(
  db: Db,
  row: KeyedRequest,
  { endpoint, idempotencyMode }: Route,
  run: Run,
): Promise<unknown> {
  const { status } = endpoint.success
  const textOf = (answer: unknown): string | null => keptText(answer, endpoint.shownOnce ?? [])
  const once = <A>(work: (db: Db) => Promise<A>): Promise<A> =>
    transact(db, async (trx) => {
      await takeKey(trx, row)
      const answer = await work(trx)
      if (answer === SENT) throw new TypeError(`What ${endpoint.name} has sent itself cannot be kept.`)
      await keepAnswer(trx, row, { status, text: textOf(answer) })
      return answer
    })
  switch (idempotencyMode) {
    case 'transaction':
      return once((trx) => run({ ...unrepeatable(trx), idempotency: row }))
    case 'manual':
      return run({ ...unrepeatable(db), idempotency: row, once })
    case 'response': {
      const answer = await run({ ...unrepeatable(db), idempotency: row })
      // A stream cannot be stored. It has no effect to be doubled, so a repetition runs it again.
      if (answer !== SENT) await takeKey(db, row, { status, text: textOf(answer) })
      return answer
    }
  }
}

// The response is stored as text, because jsonb would change the order of an object's members.
const keptText = (answer: unknown, shownOnce: readonly string[]): string | null =>
  answer === undefined
    ? null
    : JSON.stringify(answer, (name, value) => (shownOnce.includes(name) ? null : value))

function sendStored(reply: FastifyReply, status: number, text: string | null): typeof SENT {
  reply.code(status).header(REPLAYED, 'true')
  if (text === null) reply.send()
  else reply.type('application/json; charset=utf-8').send(text)
  return SENT
}

/**
 * Returns the SHA-256 hash of a validated request. Requests that differ only in the order of members have the same
 * hash.
 */
function requestPrint(
  { method, path }: Endpoint,
  { params, query, body }: FastifyRequest,
  form: Form | null,
): string {
  const asked = form ? [form.fields, form.file?.filename, form.hash] : (body ?? {})
  return createHash('sha256')
    .update(canonical([method, path, params, query, asked]))
    .digest('base64url')
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}

/** An entity tag in quotes; a weak one never matches (RFC 9110, section 13.1.1). */
const TAGS = /^(?:\*|(?:W\/)?"[\x21\x23-\x7e]*"(?:\s*,\s*(?:W\/)?"[\x21\x23-\x7e]*")*)$/

/** Returns what is wrong with an If-Match header; an empty object if nothing is. */
export function checkIfMatch(value: string | undefined): Details {
  if (value === undefined || TAGS.test(value.trim())) return {}
  return { 'If-Match': 'Must be * or ETags as responses give them, in quotes and separated by commas.' }
}

/** Returns the ETag of a response: the version of what can be changed in it. */
export function etagOf({ versioned = [] }: Endpoint, answer: unknown): string {
  const all = recordOf(answer)
  const seen = versioned.map((name) => [name, all[name] ?? null])
  return `"${createHash('sha256').update(JSON.stringify(seen)).digest('base64url').slice(0, 22)}"`
}

/** Whether a valid If-Match names this version. */
export const matches = (ifMatch: string, etag: string): boolean =>
  ifMatch.trim() === '*' || ifMatch.split(',').some((tag) => tag.trim() === etag)
