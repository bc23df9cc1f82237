import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UIMessage } from 'ai'
import type { AnswerEvent } from '../../client/events.ts'
import {
  answerEvents,
  continuationEvents,
  continuedAnswer,
  ids,
  question,
  storedAnswer,
  waitingAnswer,
} from './sample-answer.ts'
import { sendEvents, sendMessages } from './scripted-service.ts'
import { against, ask, bySdk, collect, eventsIn, FIRST, type Script, sendRest } from './try-reader.ts'

test('when the stream is cut and nothing is running, the rest comes from the stored message', async () => {
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

test('an answer stored slightly later is waited for; one that is never stored ends without more text', async () => {
  let reads = 0
  const script: Script = {
    chat: (_, response) => sendRest(response, FIRST - 1, 5),
    stream: (_, response) => response.writeHead(204).end(),
    messages: (_, response) => sendMessages(response, reads++ < 2 ? [question] : [question, storedAnswer]),
  }
  const whole = await bySdk(answerEvents)
  const patient = { storedMs: 10_000 }
  assert.deepEqual(await bySdk(eventsIn(await against(script, (parley) => ask(parley), patient))), whole)

  script.messages = (_, response) => sendMessages(response, [question])
  const events = eventsIn(await against(script, (parley) => ask(parley)))
  assert.deepEqual(events.slice(5), [
    { type: 'text-end', id: 'text-1' },
    { type: 'finish-step' },
    { type: 'finish', finishReason: 'other', messageMetadata: ids },
  ])
})

test('a stored text shorter than what was shown repeats nothing', async () => {
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

test('the stream of another answer is not mixed into this one', async () => {
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

test('an interrupted continuation adds only its own parts', async () => {
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

test('re-attaching to a continuation shows the whole message, and the page does not repeat its calls', async () => {
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

test('when nothing is running, there is nothing to re-attach to', async () => {
  const script: Script = {
    chat: () => assert.fail('nothing is sent'),
    stream: (_, response) => response.writeHead(204).end(),
    messages: (_, response) => sendMessages(response, []),
  }
  assert.equal(await against(script, (parley) => parley.reattach('agent', 'conversation-1')), null)
})
