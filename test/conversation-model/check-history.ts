import assert from 'node:assert/strict'
import type { Spoken, WireMessage } from './scripted-model.ts'
import { type State, textIn } from './state.ts'

/** The maximum number of messages that the model is sent. */
const MAX_HISTORY = 40

/** Checks that the model was sent a history that every provider accepts and that matches the stored messages. */
export function checkHistory({ messages, question }: Spoken, state: State): void {
  checkOrder(messages)
  const asked = state.messages.find(({ role, parts }) => role === 'user' && textIn(parts) === question)
  if (!asked) return
  const until = messages.findLastIndex(({ role }) => role === 'user')
  const told = messages.slice(1, until + 1).filter(({ role }) => role !== 'tool')
  const stored = state.messages.filter(({ seq }) => seq <= asked.seq)
  const heard = joined(told.map(({ role, content }) => [role, content ?? '']))
  const held = joined(stored.map(({ role, parts }) => [role, textIn(parts)]))
  // Only old messages are left out.
  if (stored.length < MAX_HISTORY)
    assert.equal(heard.length, held.length, 'the model was not told everything')
  assert.deepEqual(heard, held.slice(-heard.length), 'the model was told what is not stored')
  const results = new Map(
    state.messages.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === 'tool-result' ? [[part.toolCallId, part.output]] : [])),
    ) as [string, unknown][],
  )
  for (const { role, tool_call_id: id = '', content } of messages)
    if (role === 'tool' && results.has(id)) assert.deepEqual(JSON.parse(content ?? ''), results.get(id))
}

/**
 * Checks that every call is followed by its result, that every result follows its call, and that the last message is
 * not the model's.
 */
function checkOrder(messages: WireMessage[]): void {
  assert.deepEqual([messages[0]?.role, messages[1]?.role], ['system', 'user'])
  const ids = new Set<string>()
  let open: string[] = []
  for (const { role, tool_calls = [], tool_call_id = '' } of messages) {
    if (role === 'tool') {
      assert.ok(open.includes(tool_call_id), `a result without its call: ${tool_call_id}`)
      open = open.filter((id) => id !== tool_call_id)
      continue
    }
    assert.deepEqual(open, [], 'calls without results')
    open = tool_calls.map(({ id }) => id)
    for (const id of open) {
      assert.ok(!ids.has(id), `the call ${id} is there twice`)
      ids.add(id)
    }
  }
  assert.deepEqual(open, [], 'calls without results')
  assert.notEqual(messages.at(-1)?.role, 'assistant')
}

/** Joins the steps of an answer to one text, and drops answers without words. */
function joined(lines: [string, string][]): [string, string][] {
  const found: [string, string][] = []
  for (const [role, text] of lines) {
    const last = found.at(-1)
    if (role === 'assistant' && last?.[0] === 'assistant') last[1] += text
    else if (role === 'user' || text !== '') found.push([role, text])
  }
  return found
}
