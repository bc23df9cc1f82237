import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { createParser } from 'eventsource-parser'
import type { StreamEvent } from '../../server/conversations/stream/reading.ts'
import { plainScript, type Script } from '../conversation-model/commands.ts'
import type { FaultWorld } from './fault-world.ts'

/** One request with the key of a turn, as seen by its sender. */
export type Attempt = {
  /** The place of the process to which the request was sent. */
  place: number
  begun: number
  ended: number
  /** The status, or null if the connection broke or stayed silent before there was a response. */
  status: number | null
  code: string | null
  retryAfter: string | null
  conversationId: string | null
  /** The ids of the question and of its answer. The question counts as acknowledged when they are known. */
  userMessageId: string | null
  messageId: string | null
  acknowledgedAt: number | null
  /** The text as displayed. `shown` records when it had which length. */
  text: string
  shown: { at: number; length: number }[]
  /** The reason in the `finish` event, or null if the stream broke, and the credits that it names. */
  finishReason: string | null
  credits: number
}

/** One message of a customer, which is sent with the same key until it is answered. */
export type Turn = {
  key: string
  /** The question, which contains a unique word. */
  question: string
  attempts: Attempt[]
}

/** One conversation, with its turns in order. */
export type Talk = { turns: Turn[] }

/** A word in every message of a customer that occurs nowhere else in the service. */
export const CUSTOMERS_WORD = 'quokka'

type Wanted = {
  agentId: string
  keys: string[]
  /** Returns the current URL of a process. */
  urlOf(place: number): string
  places: number
  /** Sets the model's answer to a question. */
  expect(question: string, script: Script): void
  /** Returns the script of the model's answer to a talker's message with this number, from 0. */
  scriptOf(talker: number, number: number): Script
  closed: AbortSignal
  /** A talker who receives nothing for this long asks another process, and keeps listening to the first. */
  silenceMs?: number | undefined
}

export type Talkers = {
  talks: Talk[]
  /** Returns the number of turns that ended with `finish`. */
  answered(): number
  /** Lets all talkers end their current turn. Throws if one of them gets no answer within `patienceMs`. */
  end(patienceMs: number): Promise<void>
}

const WORD_MS = 40

/**
 * Every other talker gets short answers; those of the others are long enough to outlast a short fault. The first answer
 * to every eighth talker takes `firstMs` milliseconds.
 */
export const paced = (
  {
    models,
    services,
    agentId,
    keys,
    closed,
  }: Pick<FaultWorld, 'models' | 'agentId' | 'keys' | 'closed'> & {
    services: { url: string }[]
  },
  firstMs = 0,
): Wanted => ({
  closed,
  agentId,
  keys,
  urlOf: (place) => services[place]!.url,
  places: services.length,
  expect: models.expect,
  scriptOf(talker, number) {
    if (talker % 2) return { ...plainScript, words: 20, pace: 20 }
    const isFirst = firstMs > 0 && talker % 8 === 0 && number === 0
    return { ...plainScript, words: isFirst ? Math.ceil(firstMs / WORD_MS) : 120, pace: WORD_MS }
  },
})

const PAUSE_MS = 100
const ATTEMPT_MS = 40_000

/**
 * Starts people who chat at the same time, each in their own conversation, one message after the other, until `end`
 * is called.
 */
export function startTalkers(count: number, wanted: Wanted): Talkers {
  const talks: Talk[] = Array.from({ length: count }, () => ({ turns: [] }))
  const patience = new AbortController()
  const gaveUp = AbortSignal.any([patience.signal, wanted.closed])
  let isEnding = false
  const all = Promise.all(talks.map((talk, i) => converse(talk, i)))

  async function converse(talk: Talk, talker: number): Promise<void> {
    let conversationId: string | null = null
    while (!isEnding && !gaveUp.aborted) {
      const turn = newTurn(talker, talk.turns.length)
      talk.turns.push(turn)
      wanted.expect(turn.question, wanted.scriptOf(talker, talk.turns.length - 1))
      for (let tries = 0; !gaveUp.aborted; tries++) {
        const place = (talker + tries) % wanted.places
        const attempt = await ask(wanted, place, talker, turn, conversationId, gaveUp)
        if (isFinal(attempt)) {
          conversationId = attempt.conversationId ?? conversationId
          break
        }
        await wait(PAUSE_MS)
      }
    }
  }

  return {
    talks,
    answered: () =>
      talks.flatMap(({ turns }) => turns).filter(({ attempts }) => attempts.some(isFinal)).length,
    async end(patienceMs) {
      isEnding = true
      const timer = setTimeout(() => patience.abort(), patienceMs)
      await all
      clearTimeout(timer)
      if (!patience.signal.aborted) return
      const open = talks
        .flatMap(({ turns }) => turns.slice(-1))
        .filter(({ attempts }) => !attempts.some(isFinal))
      throw new Error(`no answer in ${patienceMs} ms to:\n${open.map(storyOf).join('\n')}`)
    },
  }
}

export const newTurn = (talker: number, number: number): Turn => ({
  key: randomBytes(8).toString('hex'),
  question: `${CUSTOMERS_WORD}-${randomBytes(6).toString('hex')} of ${talker}, number ${number}`,
  attempts: [],
})

/** Whether the service has reported the end of an answer with content, so that the talker does not ask again. */
export const isFinal = ({ status, finishReason, text }: Attempt): boolean =>
  status === 200 && finishReason !== null && (finishReason !== 'error' || text !== '')

/** Describes a turn for the message of a failed check. */
export const storyOf = ({ question, key, attempts }: Turn): string =>
  `"${question}" (${key}): ${attempts
    .map(({ place, begun, ended, status, code, text, finishReason }) => {
      const said = status === 200 ? `${text.split(' ').length - 1} words, ${finishReason ?? 'broken'}` : code
      return `[${place}] ${Math.round(begun)}…${Math.round(ended)} ${status ?? 'no answer'} ${said ?? ''}`
    })
    .slice(-8)
    .join('; ')}`

/** Sends a turn to one process and records the response until it ends or falls silent. */
export async function ask(
  { agentId, keys, urlOf, silenceMs }: Pick<Wanted, 'agentId' | 'keys' | 'urlOf' | 'silenceMs'>,
  place: number,
  talker: number,
  { key, question, attempts }: Turn,
  conversationId: string | null,
  signal: AbortSignal = new AbortController().signal,
): Promise<Attempt> {
  const attempt: Attempt = {
    place,
    begun: performance.now(),
    ended: Number.POSITIVE_INFINITY,
    status: null,
    code: null,
    retryAfter: null,
    conversationId,
    userMessageId: null,
    messageId: null,
    acknowledgedAt: null,
    text: '',
    shown: [],
    finishReason: null,
    credits: 0,
  }
  attempts.push(attempt)
  let heard = attempt.begun
  const exchange = async (): Promise<void> => {
    try {
      const response = await fetch(`${urlOf(place)}/api/v2/agents/${agentId}/chat`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${keys[talker % keys.length]}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify({ message: question, ...(conversationId ? { conversationId } : {}) }),
        signal: AbortSignal.any([signal, AbortSignal.timeout(ATTEMPT_MS)]),
      })
      attempt.status = response.status
      attempt.retryAfter = response.headers.get('retry-after')
      if (response.status !== 200) attempt.code = JSON.parse(await response.text())?.error?.code ?? null
      else
        await read(response, attempt, () => {
          heard = performance.now()
        })
    } catch {
      // The request broke, was cut or was given up. The attempt contains everything that is known about it.
    }
    attempt.ended = performance.now()
  }
  const done = exchange()
  if (silenceMs === undefined) await done
  else while (attempt.ended > performance.now() && performance.now() - heard < silenceMs) await wait(50)
  return attempt
}

async function read(response: Response, attempt: Attempt, onHeard: () => void): Promise<void> {
  const parser = createParser({
    onEvent({ data }) {
      if (data !== '[DONE]') note(attempt, JSON.parse(data) as StreamEvent)
    },
  })
  const decoder = new TextDecoder()
  for await (const chunk of response.body!) {
    onHeard()
    parser.feed(decoder.decode(chunk, { stream: true }))
  }
}

function note(attempt: Attempt, event: StreamEvent): void {
  if (event.type === 'text-delta') {
    attempt.text += event.delta
    attempt.shown.push({ at: performance.now(), length: attempt.text.length })
  } else if (event.type === 'message-metadata') {
    const { conversationId, userMessageId, messageId } = event.messageMetadata
    Object.assign(attempt, { conversationId, userMessageId, messageId, acknowledgedAt: performance.now() })
  } else if (event.type === 'finish') {
    attempt.finishReason = event.finishReason
    attempt.credits = event.messageMetadata.usage.credits
  }
}
