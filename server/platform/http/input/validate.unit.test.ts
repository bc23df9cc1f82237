import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import { CommaList, Exact } from '../contract.ts'
import { bodyValidator, textValidator } from './validate.ts'

const twice = (words: string[]) =>
  Object.fromEntries(words.flatMap((word, at) => (words.indexOf(word) < at ? [[`${at}`, 'Again.']] : [])))

/**
 * Returns the problems of a body. The validator returns an object without a prototype, because clients choose the
 * names.
 */
const check = (body: unknown): Record<string, string> => ({ ...validate(body) })

const validate = bodyValidator(
  Exact(
    {
      a: Type.Optional(Type.String({ maxLength: 3, rule: (text: string) => (text === 'no' ? 'No.' : null) })),
      words: Type.Optional(Type.Array(Type.String(), { rule: twice })),
      b: Type.Optional(Type.Integer()),
    },
    {
      rule: ({ a, b }: { a?: string; b?: number }) => ((a ?? b) === undefined ? { b: 'Send a or b.' } : null),
    },
  ),
)

test('errors of rules are reported together with those of the schema', () => {
  assert.deepEqual(check({ a: 'no' }), { a: 'No.' })
  assert.deepEqual(check({ unheardOf: 1 }), {
    unheardOf: 'This field is not known here. Remove it or check its spelling.',
    b: 'Send a or b.',
  })
  assert.deepEqual(check({ a: 'no', words: ['x', 'y', 'x'], b: 'z' }), {
    a: 'No.',
    'words.2': 'Again.',
    b: 'Must be an integer.',
  })
  assert.deepEqual(check({ a: 'yes', words: ['x', 'y'] }), {})
})

test('rules do not run on values that the schema rejects or that cannot be stored', () => {
  assert.deepEqual(Object.keys(check({ a: 'long', words: ['x', 'x', 1] })), ['a', 'words.2'])
  assert.deepEqual(Object.keys(check({ words: 'x' })), ['words'])
  assert.deepEqual(Object.keys(check({ a: 'no', words: ['\0'] })), ['words.0'])
  assert.deepEqual(Object.keys(check('no')), ['body'])
})

test('lists of values in a query report the unknown value', () => {
  const { list = '', open = '' } = textValidator(
    Exact({ list: CommaList('x', ['a', 'b']), open: CommaList('x') }),
  )({ list: 'a,c', open: ' , ' })
  assert.match(list, /^"c" is not known here\..* a, b\.$/)
  assert.equal(open, 'Must contain at least one value.')
})
