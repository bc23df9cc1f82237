import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../db/database.ts'
import type { Endpoint } from './contract.ts'
import { ApiError } from './errors.ts'
import {
  type Claim,
  claimKey,
  type KeyedRequest,
  type KeyState,
  readKey,
  releaseKey,
  renewKey,
  storeAnswer,
} from './idempotency.ts'
import { requestPrint } from './request-print.ts'
import { type Caller, type Replay, SENT } from './route.ts'
import type { Details } from './validate.ts'

const REPLAYED = 'idempotency-replayed'
const RENEW_MS = 20_000
const FIRST_POLL_MS = 50
const LONGEST_POLL_MS = 500
const MOST_WAIT_MS = 30_000

/** A checked POST with an Idempotency-Key. */
export type Keyed = {
  endpoint: Endpoint
  caller: Caller
  key: string
  request: FastifyRequest
  reply: FastifyReply
}

type Run = (replay: Replay | null) => Promise<unknown>

/** The sentence for a header that is no key. */
export function checkKey(key: string | null): Details {
  if (key === null || /^[\x21-\x7e]{1,255}$/.test(key)) return {}
  return { 'Idempotency-Key': 'Must be 1 to 255 visible ASCII characters, sent once.' }
}

/**
 * Runs the handler for the first of equal requests with one key and serves the others from it; SENT when a stored
 * answer went out. Throws IDEMPOTENCY_KEY_REUSED for another request, and when the first takes longer than 30 s.
 */
export async function answerOnce(db: Db, keyed: Keyed, run: Run): Promise<unknown> {
  const { endpoint, caller, key, request, reply } = keyed
  const deadline = Date.now() + MOST_WAIT_MS
  // For a client that has left there is no use in waiting.
  const isEnough = () => Date.now() > deadline || reply.raw.destroyed
  const fingerprint = await requestPrint(endpoint, request)
  const row: KeyedRequest = { accountId: caller.account.id, key, fingerprint }
  for (;;) {
    const claim = await claimKey(db, row)
    if (claim) return runAsOwner(db, claim, keyed, run)
    const state = await whenSettled(db, row, isEnough)
    switch (state.is) {
      case 'answered':
        return sendStored(reply, state.status, state.text)
      case 'generation':
        // Before the handler, which may send the headers itself.
        reply.header(REPLAYED, 'true')
        return run({ generationId: state.generationId })
      case 'other-request':
        throw new ApiError('IDEMPOTENCY_KEY_REUSED')
      case 'running':
        throw new ApiError('IDEMPOTENCY_KEY_REUSED', {
          message: 'The first request with this Idempotency-Key is still running. Send it again later.',
        })
    }
  }
}

async function whenSettled(db: Db, row: KeyedRequest, isEnough: () => boolean): Promise<KeyState> {
  for (let pause = FIRST_POLL_MS; ; pause = Math.min(LONGEST_POLL_MS, pause * 1.2)) {
    const state = await readKey(db, row)
    if (state.is !== 'running' || isEnough()) return state
    await wait(pause)
  }
}

async function runAsOwner(db: Db, claim: Claim, { endpoint, request }: Keyed, run: Run): Promise<unknown> {
  // What fails here must not change what the client hears of its own request; the lock runs out by itself.
  const onError = (error: unknown) => request.log.error({ err: error }, 'idempotency key')
  const renewing = setInterval(() => void renewKey(db, claim).catch(onError), RENEW_MS)
  try {
    const answer = await run(null)
    // A stream cannot be stored: it is repeated from its generation or not at all.
    const settling =
      answer === SENT ? releaseKey(db, claim) : storeAnswer(db, claim, endpoint.success.status, answer)
    await settling.catch(onError)
    return answer
  } catch (error) {
    await releaseKey(db, claim).catch(onError)
    throw error
  } finally {
    clearInterval(renewing)
  }
}

function sendStored(reply: FastifyReply, status: number, text: string | null): typeof SENT {
  reply.code(status).header(REPLAYED, 'true')
  if (text === null) reply.send()
  else reply.type('application/json; charset=utf-8').send(text)
  return SENT
}
