import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { withWrittenCalls } from './compatible-wire.ts'

const CALL = '{"name": "find_order", "arguments": {"number": "7"}}'
const usage = { inputTokens: {}, outputTokens: {} } as never

/** Returns the text, the calls and the end of an answer whose text arrives in pieces of this size. */
function read(text: string, size: number, tools = ['find_order', 'help'], mayCall = true) {
  const parts: LanguageModelV4StreamPart[] = []
  const add = withWrittenCalls(new Set(tools), mayCall, (part) => parts.push(part))
  add({ type: 'text-start', id: 't' })
  for (let at = 0; at < text.length; at += size)
    add({ type: 'text-delta', id: 't', delta: text.slice(at, at + size) })
  const shown = parts.length
  add({ type: 'text-end', id: 't' })
  add({ type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage })
  const end = parts.at(-1)
  return {
    text: parts.map((part) => (part.type === 'text-delta' ? part.delta : '')).join(''),
    calls: parts.flatMap((part) => (part.type === 'tool-call' ? [[part.toolName, part.input]] : [])),
    reason: end?.type === 'finish' ? end.finishReason.unified : null,
    shown,
  }
}

test('a text that is a call of a declared tool is that call', () => {
  const input = '{"number":"7"}'
  for (const text of [
    CALL,
    `\n${CALL}\n`,
    `\`\`\`json\n${CALL}\n\`\`\``,
    `\`\`\`\n${CALL}\n\`\`\`\n`,
    `<tool_call>\n${CALL}\n</tool_call>`,
    CALL.replace('arguments', 'parameters'),
    '{"name": "find_order", "arguments": "{\\"number\\":\\"7\\"}"}',
  ])
    for (const size of [1, 5, 500]) {
      const { text: shown, calls, reason } = read(text, size)
      assert.deepEqual([shown, calls, reason], ['', [['find_order', input]], 'tool-calls'], text)
    }
  assert.equal(read(`[${CALL}, {"name": "help", "arguments": {}}]`, 9).calls.length, 2)
})

test('any other text is shown as it is', () => {
  for (const text of [
    'Your order is on its way.',
    CALL.replace('find_order', 'delete_all'),
    `${CALL} is how it looks.`,
    '{"name": "find_order"}',
    '```js\nconst a = {}\n```',
    '[1] says so.',
    '<b>Yes</b>',
    '{',
    '',
  ])
    for (const size of [1, 5, 500]) {
      const { text: shown, calls, reason } = read(text, size)
      assert.deepEqual([shown, calls, reason], [text, [], 'stop'], text)
    }
  assert.equal(read(CALL, 5, []).text, CALL, 'without tools')
})

test('only a text that may be a call waits for its end', () => {
  assert.ok(read('Your order is on its way.', 5).shown > 3)
  assert.ok(read(`{"a": "${'long '.repeat(5_000)}"}`, 500).shown > 3)
})

test('a call by a model that was told to call nothing is no text and no call', () => {
  const { text, calls, reason } = read(CALL, 7, ['find_order'], false)
  assert.deepEqual([text, calls, reason], ['', [], 'stop'])
  assert.equal(read('Hello.', 7, ['find_order'], false).text, 'Hello.')
})
