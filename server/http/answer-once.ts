import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../db/database.ts'
import { transact } from '../db/transact.ts'
import { lastly } from '../db/transaction.ts'
import { ApiError } from './errors.ts'
import { type KeyedRequest, type KeyState, KeyTaken, keepingAnswer, readKey, takeKey } from './idempotency.ts'
import { requestPrint } from './request-print.ts'
import { type Caller, type Repeatable, type Route, SENT } from './route.ts'
import type { Form } from './uploads.ts'
import type { Details } from './validate.ts'

const REPLAYED = 'idempotency-replayed'
/** What is committed under a key may change between the look and the handler: it expires, or its reply ends. */
const TRIES = 3

/** A checked POST with an Idempotency-Key. */
export type Keyed = {
  route: Route
  caller: Caller
  key: string
  form: Form | null
  request: FastifyRequest
  reply: FastifyReply
}

type Run = (repeatable: Repeatable) => Promise<unknown>

/** The sentence for a header that is no key. */
export function checkKey(key: string | null): Details {
  if (key === null || /^[\x21-\x7e]{1,255}$/.test(key)) return {}
  return { 'Idempotency-Key': 'Must be 1 to 255 visible ASCII characters, sent once.' }
}

/** What a request without a key is: repeated, it is another one. */
export const unrepeatable = (db: Db): Repeatable => ({
  db,
  idempotency: null,
  replay: null,
  deliveryId: null,
  once: (work) => work(db),
})

/**
 * Runs the handler for the first of equal requests with one key and serves the others from what that has committed;
 * SENT when a stored answer went out. An error leaves the key free. Throws IDEMPOTENCY_KEY_REUSED for another request,
 * and when the first takes longer than a connection waits for locks.
 */
export async function answerOnce(db: Db, keyed: Keyed, run: Run): Promise<unknown> {
  const { route, caller, key, form, request, reply } = keyed
  const fingerprint = requestPrint(route.endpoint, request, form)
  const row: KeyedRequest = { accountId: caller.account.id, key, fingerprint }
  const asked = { ...unrepeatable(db), idempotency: row }
  // Who takes the key as the first statement of all need not look whether it is free.
  const first = route.keeps === 'everything' ? { is: 'free' as const } : await readKey(db, row)
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
        // Before the handler, which may send the headers itself.
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

async function runFirst(db: Db, row: KeyedRequest, { endpoint, keeps }: Route, run: Run): Promise<unknown> {
  const { status } = endpoint.success
  const textOf = (answer: unknown): string | null => keptText(answer, endpoint.shownOnce ?? [])
  const once = <A>(work: (db: Db) => Promise<A>): Promise<A> =>
    transact(db, async (trx) => {
      await takeKey(trx, row)
      const answer = await work(trx)
      if (answer === SENT) throw new TypeError(`What ${endpoint.name} has sent itself cannot be kept.`)
      return lastly(trx, keepingAnswer(trx, row, { status, text: textOf(answer) }), () => answer)
    })
  switch (keeps) {
    case 'everything':
      return once((trx) => run({ ...unrepeatable(trx), idempotency: row }))
    case 'effect':
      return run({ ...unrepeatable(db), idempotency: row, once })
    case 'answer': {
      const answer = await run({ ...unrepeatable(db), idempotency: row })
      // A stream cannot be kept: what changes nothing is done again.
      if (answer !== SENT) await takeKey(db, row, { status, text: textOf(answer) })
      return answer
    }
  }
}

// As text: a jsonb object would come back with its members in another order.
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
