import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import fc from 'fast-check'
import type { AnswerEvent, NumberedEvent } from './events.ts'
import { createParley, type Parley } from './parley.ts'
import { ParleyError } from './parley-error.ts'
import type { Patience } from './patience.ts'
import {
  answerEvents,
  continuationEvents,
  continuedAnswer,
  ids,
  question,
  storedAnswer,
  waitingAnswer,
} from './sample-answer.ts'
import {
  frameOf,
  type Seen,
  sendError,
  sendEvents,
  sendMessages,
  startScriptedService,
} from './scripted-service.ts'

const FIRST = 41
const CONVERSATION = '/agents/agent/conversations/conversation-1'
const quick: Partial<Patience> = { firstDelayMs: 1, longestDelayMs: 4, storedMs: 60 }

type Script = {
  chat: (seen: Seen, response: ServerResponse) => void
  stream?: (seen: Seen, response: ServerResponse, after: number) => void
  messages?: (seen: Seen, response: ServerResponse) => void
}

/** Runs `use` against a service that answers as the script says. */
async function against<T>(
  script: Script,
  use: (parley: Parley, seen: Seen[]) => Promise<T>,
  patience: Partial<Patience> = {},
): Promise<T> {
  const service = await startScriptedService((seen, response) => {
    const refuse = () => sendError(response, 500, 'NOT_IN_SCRIPT')
    if (seen.path.endsWith('/chat')) script.chat(seen, response)
    else if (seen.path === `${CONVERSATION}/stream`) {
      ;(script.stream ?? refuse)(seen, response, Number(seen.headers['last-event-id'] ?? FIRST - 1))
    } else if (seen.path === `${CONVERSATION}/messages`) (script.messages ?? refuse)(seen, response)
    else sendError(response, 404, 'ROUTE_NOT_FOUND')
  })
  try {
    return await use(
      createParley({ baseUrl: service.url, patience: { ...quick, ...patience } }),
      service.seen,
    )
  } finally {
    await service.close()
  }
}

async function collect(answer: AsyncIterable<NumberedEvent>): Promise<NumberedEvent[]> {
  const events: NumberedEvent[] = []
  for await (const event of answer) events.push(event)
  return events
}

const ask = async (parley: Parley, conversationId?: string) =>
  collect(await parley.chat('agent', { message: 'Are you open on Monday?', conversationId }))

/** The events behind number `after`, as the service sends them. */
const sendRest = (response: ServerResponse, after: number, cutAfter?: number): void =>
  sendEvents(response, answerEvents.slice(after + 1 - FIRST), { first: after + 1, cutAfter })

const eventsIn = (events: NumberedEvent[]): AnswerEvent[] => events.map(({ event }) => event)

/** The message as the AI SDK sees it, without what tells apart a streamed from a stored one. */
async function bySdk(events: AnswerEvent[], message?: UIMessage): Promise<UIMessage> {
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const event of events) controller.enqueue(event as UIMessageChunk)
      controller.close()
    },
  })
  let last: UIMessage | undefined
  for await (const state of readUIMessageStream({ stream, message, terminateOnError: true })) last = state
  return JSON.parse(JSON.stringify({ id: last?.id, parts: last?.parts, metadata: last?.metadata }))
}

test('an answer that comes through gives its events with their numbers', async () => {
  const events = await against({ chat: (_, response) => sendRest(response, FIRST - 1) }, (parley) =>
    ask(parley),
  )
  assert.deepEqual(eventsIn(events), answerEvents)
  assert.deepEqual(
    events.map(({ id }) => id),
    answerEvents.map((_, index) => FIRST + index),
  )
})

test('cut anywhere, the stream goes on where it broke off', async () => {
  for (let cut = 0; cut < answerEvents.length; cut++) {
    let posts = 0
    await against(
      {
        chat: (_, response) => sendRest(response, FIRST - 1, posts++ === 0 ? cut : undefined),
        stream: (_, response, after) => sendRest(response, after),
      },
      async (parley, seen) => {
        assert.deepEqual(eventsIn(await ask(parley)), answerEvents, `cut after ${cut}`)
        const [first, second] = seen
        assert.equal(seen.length, 2)
        if (cut < 2) {
          // Where to re-attach stands in the second event: before it the request itself is sent again.
          assert.equal(second?.method, 'POST')
          assert.ok(first?.headers['idempotency-key'])
          assert.equal(second?.headers['idempotency-key'], first?.headers['idempotency-key'])
          assert.deepEqual(second?.body, first?.body)
        } else {
          assert.equal(second?.method, 'GET')
          assert.equal(second?.headers['last-event-id'], String(FIRST + cut - 1))
        }
      },
    )
  }
})

test('cut anywhere, and nothing runs any more: the rest comes from the stored message', async () => {
  const whole = await bySdk(answerEvents)
  for (let cut = 2; cut < answerEvents.length; cut++) {
    const events = await against(
      {
        chat: (_, response) => sendRest(response, FIRST - 1, cut),
        stream: (_, response) => response.writeHead(204).end(),
        messages: (_, response) => sendMessages(response, [question, storedAnswer]),
      },
      (parley) => ask(parley),
    )
    assert.deepEqual(eventsIn(events).slice(0, cut), answerEvents.slice(0, cut))
    assert.deepEqual(await bySdk(eventsIn(events)), whole, `cut after ${cut}`)
    assert.equal(events.filter(({ event }) => event.type === 'finish').length, 1)
    assert.equal(events.at(-1)?.event.type, 'finish')
  }
})

type Turn =
  | { is: 'cut' | 'cut-in-event'; after: number }
  | { is: 'repeat'; from: number; after: number }
  | { is: 'refuse'; status: number }
  | { is: 'hang-up' }

function play(response: ServerResponse, after: number, turn: Turn | undefined): void {
  if (turn === undefined) sendRest(response, after)
  else if (turn.is === 'cut') sendRest(response, after, turn.after)
  // From an earlier event than the one asked for, as behind a proxy that drops the header.
  else if (turn.is === 'repeat') sendRest(response, Math.min(after, FIRST - 1 + turn.from), turn.after)
  else if (turn.is === 'refuse') sendError(response, turn.status, 'NOT_NOW', { 'retry-after': '0' })
  else if (turn.is === 'hang-up') response.destroy()
  else {
    const frames = answerEvents.map((event, index) => frameOf(FIRST + index, event)).slice(after + 1 - FIRST)
    const text = frames.slice(0, turn.after).join('') + (frames[turn.after] ?? '').slice(0, 20)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(text, () => response.destroy())
  }
}

test('whatever the connections do, every event comes once', async () => {
  const index = fc.nat(answerEvents.length)
  const turn: fc.Arbitrary<Turn> = fc.oneof(
    fc.record({ is: fc.constantFrom('cut' as const, 'cut-in-event' as const), after: index }),
    fc.record({ is: fc.constant('repeat' as const), from: index, after: index }),
    fc.record({ is: fc.constant('refuse' as const), status: fc.constantFrom(429, 500, 502, 503) }),
    fc.constant({ is: 'hang-up' as const }),
  )
  await fc.assert(
    fc.asyncProperty(index, fc.array(turn, { maxLength: 6 }), async (cut, turns) => {
      const left: Turn[] = [{ is: 'cut', after: cut }, ...turns]
      const script: Script = {
        chat: (_, response) => play(response, FIRST - 1, left.shift()),
        stream: (_, response, after) => play(response, after, left.shift()),
      }
      assert.deepEqual(eventsIn(await against(script, (parley) => ask(parley))), answerEvents)
    }),
    { numRuns: 60 },
  )
})

test('a connection that falls silent is dropped and opened again', async () => {
  let posts = 0
  const hang = (response: ServerResponse, events: number) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(
      answerEvents
        .slice(0, events)
        .map((event, i) => frameOf(FIRST + i, event))
        .join(''),
    )
    response.flushHeaders()
  }
  const script: Script = {
    chat: (_, response) => (posts++ === 0 ? hang(response, 5) : sendRest(response, FIRST - 1)),
    stream: (_, response, after) => sendRest(response, after),
  }
  const silence = { silenceMs: 80 }
  assert.deepEqual(eventsIn(await against(script, (parley) => ask(parley), silence)), answerEvents)
  // The request for the stream can hang as well.
  let streams = 0
  script.stream = (_, response, after) => {
    if (streams++ > 0) sendRest(response, after)
  }
  posts = 0
  assert.deepEqual(eventsIn(await against(script, (parley) => ask(parley), silence)), answerEvents)
})

test('a restart of the service is waited for, and is no event', async () => {
  const reattach = { type: 'data-reattach', data: { afterMs: 5 }, transient: true } as AnswerEvent
  const events = await against(
    {
      // It has a number of its own, which the next event may have too.
      chat: (_, response) => sendEvents(response, [...answerEvents.slice(0, 5), reattach], { first: FIRST }),
      stream: (_, response, after) => sendRest(response, after),
    },
    (parley) => ask(parley),
  )
  assert.deepEqual(eventsIn(events), answerEvents)
})

test('an answer that is stored a little later is waited for; one that never is ends without more text', async () => {
  let reads = 0
  const script: Script = {
    chat: (_, response) => sendRest(response, FIRST - 1, 5),
    stream: (_, response) => response.writeHead(204).end(),
    messages: (_, response) => sendMessages(response, reads++ < 2 ? [question] : [question, storedAnswer]),
  }
  const whole = await bySdk(answerEvents)
  assert.deepEqual(await bySdk(eventsIn(await against(script, (parley) => ask(parley)))), whole)

  script.messages = (_, response) => sendMessages(response, [question])
  const events = eventsIn(await against(script, (parley) => ask(parley)))
  assert.deepEqual(events.slice(5), [
    { type: 'text-end', id: 'text-1' },
    { type: 'finish-step' },
    { type: 'finish', finishReason: 'other', messageMetadata: ids },
  ])
})

test('a checkpoint that is shorter than what was shown repeats nothing', async () => {
  const stored = { ...storedAnswer, parts: [{ type: 'text' as const, text: 'Let me' }], metadata: {} }
  const script: Script = {
    chat: (_, response) => sendRest(response, FIRST - 1, 6),
    stream: (_, response) => response.writeHead(204).end(),
    messages: (_, response) => sendMessages(response, [question, stored]),
  }
  const events = eventsIn(await against(script, (parley) => ask(parley)))
  assert.deepEqual(
    events.map(({ type }) => type),
    [...answerEvents.slice(0, 6).map(({ type }) => type), 'text-end', 'finish-step', 'finish'],
  )
})

test("another answer's stream is not mixed into this one", async () => {
  const other = answerEvents.map((event) =>
    event.type === 'start' ? { ...event, messageId: 'other' } : event,
  )
  const script: Script = {
    chat: (_, response) => sendRest(response, FIRST - 1, 9),
    stream: (_, response) => sendEvents(response, other, { first: FIRST + 100 }),
    messages: (_, response) =>
      sendMessages(response, [question, storedAnswer, { ...question, id: 'question-2' }]),
  }
  const events = eventsIn(await against(script, (parley) => ask(parley)))
  assert.deepEqual(await bySdk(events), await bySdk(answerEvents))
})

const sdkMessage = (): UIMessage => ({
  id: waitingAnswer.id,
  role: 'assistant',
  parts: [
    { type: 'step-start' },
    { type: 'text', text: 'Here is a map.', state: 'done' },
    {
      type: 'tool-show_map',
      toolCallId: 'call-2',
      state: 'output-available',
      input: { zoom: 3 },
      output: 'shown',
    },
  ],
})

test('a continuation that breaks off adds only its own parts', async () => {
  const partsOf = async (events: AnswerEvent[]) => (await bySdk(events, sdkMessage())).parts
  const whole = await partsOf(continuationEvents)
  for (let cut = 1; cut < continuationEvents.length; cut++) {
    let reads = 0
    const script: Script = {
      chat: (_, response) => sendEvents(response, continuationEvents, { first: FIRST, cutAfter: cut }),
      stream: (_, response) => response.writeHead(204).end(),
      messages: (_, response) =>
        sendMessages(response, [question, reads++ === 0 ? waitingAnswer : continuedAnswer]),
    }
    const events = await against(script, async (parley) =>
      collect(await parley.chat('agent', { conversationId: 'conversation-1' })),
    )
    assert.deepEqual(await partsOf(eventsIn(events)), whole, `cut after ${cut}`)
  }
})

test('re-attached to a continuation, the whole message is shown, and no page runs its calls again', async () => {
  for (const cut of [0, 1, 5, continuationEvents.length]) {
    let streams = 0
    let reads = 0
    const script: Script = {
      chat: () => assert.fail('nothing is sent'),
      stream: (_, response, after) => {
        if (streams++ === 0) sendEvents(response, continuationEvents, { first: FIRST, cutAfter: cut })
        else if (cut === 5) response.writeHead(204).end()
        else sendEvents(response, continuationEvents.slice(after + 1 - FIRST), { first: after + 1 })
      },
      messages: (_, response) => {
        const now = { ...waitingAnswer, parts: continuedAnswer.parts.slice(0, 3) }
        sendMessages(response, [question, reads++ === 0 ? now : continuedAnswer])
      },
    }
    const events = await against(script, async (parley) =>
      collect((await parley.reattach('agent', 'conversation-1')) ?? assert.fail('nothing runs')),
    )
    const { parts } = await bySdk(eventsIn(events))
    const shown = parts.map((part) => ('text' in part ? part.text : part.type)).join('|')
    assert.equal(shown, 'step-start|Here is a map.|tool-show_map|step-start|Can you see it?')
    const call = parts[2] as { state: string; providerExecuted: boolean }
    assert.deepEqual([call.state, call.providerExecuted], ['output-available', true])
  }
})

test('nothing runs: there is nothing to re-attach to', async () => {
  const script: Script = {
    chat: () => assert.fail('nothing is sent'),
    stream: (_, response) => response.writeHead(204).end(),
    messages: (_, response) => sendMessages(response, []),
  }
  assert.equal(await against(script, (parley) => parley.reattach('agent', 'conversation-1')), null)
})

test('an answer that says no is told at once, with all it says', async () => {
  for (const broken of [false, true]) {
    const refuse = (response: ServerResponse) => sendError(response, 402, 'CHAT_CREDITS_EXHAUSTED')
    const script: Script = {
      chat: (_, response) => (broken ? sendRest(response, FIRST - 1, 4) : refuse(response)),
      stream: (_, response) => refuse(response),
    }
    await against(script, async (parley, seen) => {
      const error = await ask(parley).catch((thrown: unknown) => thrown)
      assert.ok(error instanceof ParleyError)
      const { code, status, message, details } = error
      assert.deepEqual(
        { code, status, message, details },
        {
          code: 'CHAT_CREDITS_EXHAUSTED',
          status: 402,
          message: 'It is CHAT_CREDITS_EXHAUSTED.',
          details: { field: 'A sentence.' },
        },
      )
      assert.equal(seen.length, broken ? 2 : 1)
    })
  }
})

test('it gives up in the end, with what the service said last', async () => {
  const script: Script = {
    chat: (_, response) => sendRest(response, FIRST - 1, 4),
    stream: (_, response) => sendError(response, 503, 'SERVICE_UNDER_MAINTENANCE'),
  }
  const giveUp = { giveUpMs: 60 }
  await assert.rejects(
    against(script, (parley) => ask(parley), giveUp),
    { code: 'SERVICE_UNDER_MAINTENANCE' },
  )
  const nowhere = createParley({ baseUrl: 'http://127.0.0.1:9', patience: { ...quick, firstAnswerMs: 30 } })
  await assert.rejects(ask(nowhere), TypeError)
})

test('an abort ends it, in the middle of events and between tries', async () => {
  for (const isWaiting of [false, true]) {
    const controller = new AbortController()
    const script: Script = {
      chat: (_, response) => {
        if (isWaiting) return sendRest(response, FIRST - 1, 4)
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(frameOf(FIRST, answerEvents[0]!))
      },
      stream: (_, response) => {
        sendError(response, 503, 'SERVICE_OVERLOADED', { 'retry-after': '60' })
        setTimeout(() => controller.abort(), 20)
      },
    }
    const read = against(script, async (parley) => {
      const answer = await parley.chat('agent', { message: 'Hello' }, { signal: controller.signal })
      for await (const { event } of answer) if (!isWaiting && event.type === 'start') controller.abort()
    })
    await assert.rejects(read, { name: 'AbortError' })
  }
})
