import assert from 'node:assert/strict'
import { ownParts, type State, textIn } from './state.ts'
import { spokenIn, type Talk } from './talk.ts'

/** Checks everything that must hold at any time. */
export function checkState(talk: Talk, state: State): void {
  const { generations, messages, last_seq } = state
  assert.ok(generations.filter(({ status }) => status === 'running').length <= 1, 'two answers run')
  const expected = expectedMessages(state)
  assert.deepEqual(
    messages.map(({ id, seq, role }) => ({ id, seq, role })),
    expected.messages,
    'the messages are those that the generations tell of',
  )
  assert.equal(last_seq, expected.seq)
  const asked = messages.filter(({ role }) => role === 'user').map(({ parts }) => textIn(parts))
  assert.equal(new Set(asked).size, asked.length, 'a message is there twice')
  for (const text of asked) assert.ok(talk.asked.has(text), `nobody sent ${text}`)
  checkCalls(talk, state)
  for (const { id, status, message_state, usage_credits, stop_reason } of generations) {
    if (talk.silenced.has(id) || stop_reason === 'takeover')
      assert.equal(message_state, 'none', 'it spoke after the takeover')
    if (status === 'running') assert.deepEqual([message_state, usage_credits], ['none', 0])
    if (message_state !== 'none') assert.equal(usage_credits, 1)
  }
  if (talk.frozen !== null) assert.equal(spokenIn(state), talk.frozen, 'the model spoke after the takeover')
}

type Slot = { id: string; seq: number; role: 'user' | 'assistant' }

/** Derives the messages of a conversation from its generations, one after the other, in the obvious way. */
function expectedMessages({ generations }: State): { messages: Slot[]; seq: number } {
  let messages: Slot[] = []
  let seq = 0
  for (const one of generations) {
    // A request without a message answers the last message again if its answer failed.
    const isNew = messages.every(({ id }) => id !== one.user_message_id)
    if (one.kind === 'reply' && isNew) messages.push({ id: one.user_message_id, seq: ++seq, role: 'user' })
    if (one.message_state === 'none') continue
    if (one.kind === 'retry') {
      messages = messages.filter((message) => message.seq < one.cut_from! || message.seq > one.cut_to!)
    }
    if (one.kind === 'continuation') seq += 0
    else messages.push({ id: one.message_id, seq: ++seq, role: 'assistant' })
  }
  return { messages, seq }
}

/**
 * Checks that every call of a message has a row and, unless it waits, exactly one result after it, and that no
 * other rows or results exist.
 */
function checkCalls({ outputs }: Talk, state: State): void {
  const rows = new Map(state.calls.map((call) => [call.id, call]))
  const found = new Set<string>()
  for (const { id: messageId, parts } of state.messages) {
    for (const [index, part] of parts.entries()) {
      if (part.type === 'text') continue
      const { toolCallId } = part
      const calls = parts.filter((one) => one.type === 'tool-call' && one.toolCallId === toolCallId)
      const results = parts.filter((one) => one.type === 'tool-result' && one.toolCallId === toolCallId)
      assert.equal(calls.length, 1, `${calls.length} calls ${toolCallId}`)
      if (part.type === 'tool-result') {
        assert.ok(index > parts.indexOf(calls[0]!), 'a result before its call')
        continue
      }
      found.add(toolCallId)
      const row = rows.get(toolCallId)
      assert.equal(results.length, row?.status === 'pending' ? 0 : 1, `results of the call ${toolCallId}`)
      if (row) assert.equal(row.message_id, messageId)
      const [result] = results
      const taken = outputs.get(toolCallId)
      if (result?.type === 'tool-result' && taken) assert.deepEqual(result.output, taken)
    }
  }
  for (const { id, status, waits } of state.calls)
    if (status === 'pending' && waits) assert.ok(found.has(id), `the waiting call ${id} is in no message`)
}

/** Checks that what must never change again has not changed. */
export function checkProgress(before: State, after: State): void {
  for (const message of before.messages) {
    const now = after.messages.find(({ id }) => id === message.id)
    if (now) assert.deepEqual(now.parts.slice(0, message.parts.length), message.parts, 'said is said')
  }
  for (const call of before.calls) {
    const now = after.calls.find(({ id }) => id === call.id)
    if (call.status !== 'pending')
      assert.deepEqual([now?.status, now?.output], [call.status, call.output], 'a call was resolved twice')
  }
  for (const generation of before.generations) {
    const now = after.generations.find(({ id }) => id === generation.id)
    if (generation.status === 'running') continue
    assert.equal(now?.status, generation.status, 'a generation ended twice')
    if (generation.message_state !== now?.message_state)
      assert.deepEqual([generation.message_state, now?.message_state], ['stored', 'cut'])
    const own = ownParts(before, generation)
    if (own && now?.message_state === 'stored') assert.deepEqual(ownParts(after, now), own)
  }
}
