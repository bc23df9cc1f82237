import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { MessagePart } from '../../../platform/db/tables/conversations.ts'
import type { MessageRow } from '../../records/queries.ts'
import { findUnanswered } from './find-unanswered.ts'

let seq = 0
function message(
  role: 'user' | 'assistant',
  text: string,
  metadata: object | null,
  parts: MessagePart[] = [],
): MessageRow {
  seq++
  return {
    id: `m${seq}`,
    account_id: 'a' as AccountId,
    agent_id: 'b',
    conversation_id: 'c',
    seq,
    role,
    parts: [...parts, { type: 'text', text }],
    metadata: metadata as MessageRow['metadata'],
    feedback: null,
    created_at: new Date(seq),
  }
}
const asked = (text: string) => message('user', text, null)
const said = (metadata: object, parts?: MessagePart[]) => message('assistant', 'Well …', metadata, parts)
const questions = (...messages: MessageRow[]) => findUnanswered(messages).map(({ question }) => question)
const result = (output: unknown, providerExecuted?: true): MessagePart[] => [
  {
    type: 'tool-result',
    toolCallId: 't',
    toolName: 'find',
    output,
    ...(providerExecuted ? { providerExecuted } : {}),
  },
]
const source = { id: 's', name: 'x', url: null, score: 0.9 }

const NOT_FOUND = { model: 'builtin', score: 0, outcome: 'not_found' }

test('a question is unanswered by the outcome of its answer, or when a model answered without any source', () => {
  const question = asked('Where can I park?')
  const model = { model: 'chat', finishReason: 'stop' }
  const open = [
    said(NOT_FOUND),
    said({ ...NOT_FOUND, outcome: 'declined' }),
    said({ ...model, score: 0.9, outcome: 'partly', sources: [source] }),
    said({ ...model, score: 0.2 }),
    said({ ...model, score: null }),
    said({ ...model, score: 0.2 }, result({ status: 'error' }, true)),
  ]
  for (const answer of open) assert.deepEqual(questions(question, answer), ['Where can I park?'])
  const answered = [
    said({ model: 'builtin', score: 0.1, outcome: 'answered', sources: [source] }),
    said({ ...model, score: 0.1, outcome: 'handed_over' }),
    said({ ...NOT_FOUND, outcome: null }),
    said({ ...NOT_FOUND, isIndexing: true }),
    said({ ...model, score: 0, isIndexing: true }),
    said({ ...model, score: 0.8 }),
    said({ ...model, score: 0.2, sources: [source] }),
    said({ ...model, score: 0.2 }, result({ status: 'success', data: {} }, true)),
    // What an application answers has whatever shape the application gives it.
    said({ ...model, score: 0.2 }, result({ state: 'shipped' })),
    said({ model: 'chat' }),
    said({ model: 'chat', score: 0, finishReason: 'error' }),
    said({ score: 0, author: { type: 'human_agent', name: 'Ann' } }),
  ]
  for (const answer of answered) assert.deepEqual(questions(question, answer), [])
  assert.deepEqual(questions(said({ ...model, score: 0 })), [], 'a greeting before any question')
})

test('messages that name no subject do not count', () => {
  for (const text of ['Hello!', 'ok', 'Danke', 'thanks, what else can you do?', '???', '12', '👍', ''])
    assert.deepEqual(questions(asked(text), said(NOT_FOUND)), [], text)
})

test('a reply of a person is the suggested answer, unless something else was asked before it', () => {
  const person = message('assistant', ' Behind the house. ', { author: { type: 'human_agent', name: 'Ann' } })
  const found = findUnanswered([
    asked('Where can I park?'),
    said(NOT_FOUND),
    asked('Is anybody there?'),
    person,
  ])
  assert.deepEqual(
    found.map(({ suggestedAnswer }) => suggestedAnswer),
    ['Behind the house.'],
  )
  const other = findUnanswered([
    asked('Where can I park?'),
    said(NOT_FOUND),
    asked('My coffee bag was torn. Can I get a new one?'),
    person,
  ])
  assert.deepEqual(
    other.map(({ suggestedAnswer }) => suggestedAnswer),
    [null],
  )
})
