import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import fc from 'fast-check'
import type { AnswerEvent } from '../../client/events.ts'
import { createParley } from '../../client/parley.ts'
import { ParleyError } from '../../client/parley-error.ts'
import { answerEvents, question } from './sample-answer.ts'
import {
  frameOf,
  sendError,
  sendEvents,
  sendJson,
  sendMessages,
  startScriptedService,
} from './scripted-service.ts'
import { against, ask, collect, eventsIn, FIRST, quick, type Script, sendRest } from './try-reader.ts'

test('an uninterrupted answer yields its events with their numbers', async () => {
  const events = await against({ chat: (_, response) => sendRest(response, FIRST - 1) }, (parley) =>
    ask(parley),
  )
  assert.deepEqual(eventsIn(events), answerEvents)
  assert.deepEqual(
    events.map(({ id }) => id),
    answerEvents.map((_, index) => FIRST + index),
  )
})

test('wherever it is cut, the stream continues where it broke off', async () => {
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
          // The second event says where to re-attach. Without it, the request itself is sent again.
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

type Turn =
  | { is: 'cut' | 'cut-in-event'; after: number }
  | { is: 'repeat'; from: number; after: number }
  | { is: 'refuse'; status: number }
  | { is: 'hang-up' }

function play(response: ServerResponse, after: number, turn: Turn | undefined): void {
  if (turn === undefined) sendRest(response, after)
  else if (turn.is === 'cut') sendRest(response, after, turn.after)
  // The stream starts at an earlier event than requested, as behind a proxy that drops the header.
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

test('in a known conversation, a request without any event is repeated with its key', async () => {
  let posts = 0
  const script: Script = {
    chat: (_, response) => sendRest(response, FIRST - 1, posts++ === 0 ? 0 : undefined),
    // The running answer may belong to another request.
    stream: () => assert.fail('nothing is known of a stream'),
  }
  await against(script, async (parley, seen) => {
    const body = { message: 'Hello', conversationId: 'conversation-1' }
    const answer = await parley.chat('agent', body, { idempotencyKey: 'mine' })
    assert.deepEqual(eventsIn(await collect(answer)), answerEvents)
    assert.deepEqual(
      seen.map(({ headers }) => headers['idempotency-key']),
      ['mine', 'mine'],
    )
  })
})

test('every event arrives once, whatever happens to the connections', async () => {
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

test('a silent connection is dropped and reopened', async () => {
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
  const silence = { silenceMs: 80, responseMs: 80 }
  assert.deepEqual(eventsIn(await against(script, (parley) => ask(parley), silence)), answerEvents)
  // The request for the stream can also hang.
  let streams = 0
  script.stream = (_, response, after) => {
    if (streams++ > 0) sendRest(response, after)
  }
  posts = 0
  assert.deepEqual(eventsIn(await against(script, (parley) => ask(parley), silence)), answerEvents)
})

test('a request that gets no response is sent again', async () => {
  const waiting = new Set(['chat', 'messages', 'stream', 'stop', 'tool-result'])
  const responses: Record<string, (response: ServerResponse) => void> = {
    chat: (response) => sendRest(response, FIRST - 1),
    messages: (response) => sendMessages(response, [question]),
    stream: (response) => sendRest(response, FIRST - 1),
    stop: (response) => sendJson(response, { data: { stopped: true } }),
    'tool-result': (response) => response.writeHead(204).end(),
  }
  const keys = new Map<string, unknown[]>()
  const service = await startScriptedService(({ path, headers }, response) => {
    const last = path.split('/').at(-1)!
    keys.set(last, [...(keys.get(last) ?? []), headers['idempotency-key']])
    if (!waiting.delete(last)) responses[last]?.(response)
  })
  try {
    const parley = createParley({ baseUrl: service.url, patience: { ...quick, responseMs: 60 } })
    assert.deepEqual(eventsIn(await ask(parley)), answerEvents)
    assert.deepEqual((await parley.messages('agent', 'conversation-1')).data, [question])
    assert.deepEqual(
      eventsIn(await collect((await parley.reattach('agent', 'conversation-1'))!)),
      answerEvents,
    )
    assert.deepEqual(await parley.stop('agent', 'conversation-1'), { stopped: true })
    await parley.toolResult('agent', 'conversation-1', 'call_1', {})
  } finally {
    await service.close()
  }
  for (const name of ['chat', 'tool-result']) {
    const [first, second] = keys.get(name) ?? []
    assert.ok(first)
    assert.equal(second, first, `the ${name} is sent again with its key`)
  }
})

test('the client waits for a restart of the service, which is not an event', async () => {
  const reattach = { type: 'data-reattach', data: { afterMs: 5 }, transient: true } as AnswerEvent
  const events = await against(
    {
      // This event has an id, which the next event may also have.
      chat: (_, response) => sendEvents(response, [...answerEvents.slice(0, 5), reattach], { first: FIRST }),
      stream: (_, response, after) => sendRest(response, after),
    },
    (parley) => ask(parley),
  )
  assert.deepEqual(eventsIn(events), answerEvents)
})

test('a response with an error is reported at once, with its details', async () => {
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

test('it finally gives up with the last error of the service', async () => {
  const script: Script = {
    chat: (_, response) => sendRest(response, FIRST - 1, 4),
    stream: (_, response) => sendError(response, 503, 'SERVICE_UNDER_MAINTENANCE'),
  }
  const giveUp = { giveUpMs: 60 }
  await assert.rejects(
    against(script, (parley) => ask(parley), giveUp),
    { code: 'SERVICE_UNDER_MAINTENANCE' },
  )
  let streams = 0
  script.stream = (_, response) => {
    streams += 1
    sendError(response, 429, 'RATE_LIMIT_TOO_MANY_REQUESTS', { 'retry-after': '3600' })
  }
  await assert.rejects(
    against(script, (parley) => ask(parley)),
    { code: 'RATE_LIMIT_TOO_MANY_REQUESTS' },
  )
  assert.equal(streams, 1, 'it does not ask again before it may')
  const nowhere = createParley({ baseUrl: 'http://127.0.0.1:9', patience: { ...quick, firstAnswerMs: 30 } })
  await assert.rejects(ask(nowhere), TypeError)
})

test('an abort ends it, during events and between retries', async () => {
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
