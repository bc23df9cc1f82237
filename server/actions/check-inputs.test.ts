import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createInputChecks, refuseSchema } from './check-inputs.ts'

test('schemas of the draft are taken, with references to their own parts', () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { from: { $ref: '#/$defs/day%20of~1year' }, to: { $ref: '#/$defs/day%20of~1year' } },
    patternProperties: { '^x-': { type: 'string' } },
    unevaluatedProperties: false,
    $defs: { 'day of/year': { type: 'string', format: 'date' } },
  }
  assert.equal(refuseSchema(schema), null)
  const check = createInputChecks()(schema)
  assert.equal(check({ from: '2026-02-28', 'x-a': 'b' }), null)
  assert.match(check({ to: '2026-02-30' }) ?? '', /^The input "to" must match format "date"\.$/)
  assert.equal(check({ y: 1 }), 'The input "y" is not known.')
})

test('a reference that leads nowhere, outside, back to itself, or to too much is refused', () => {
  const doubling = Object.fromEntries(
    Array.from({ length: 60 }, (_, n) => {
      const next = { $ref: `#/$defs/d${n + 1}` }
      return [`d${n}`, { allOf: [next, next] }]
    }),
  )
  const wrong: [object, RegExp][] = [
    [{ properties: { a: { $ref: '#/$defs/gone' } } }, /which is not there/],
    [{ properties: { a: { $ref: '#name' } } }, /only to its own parts/],
    [{ properties: { a: { $ref: 'other.json' } } }, /only to its own parts/],
    [{ properties: { a: { $dynamicRef: '#a' } } }, /Must not use \$dynamicRef/],
    [{ properties: { a: { $id: 'https://example.com/' } } }, /Must not use \$id/],
    [{ properties: { a: { $ref: '#' } } }, /refer to itself/],
    [{ $defs: { ...doubling, d60: {} }, $ref: '#/$defs/d0' }, /too large/],
    [{ $async: true }, /\$async/],
    [{ $schema: 'http://json-schema.org/draft-07/schema#' }, /2020-12/],
  ]
  for (const [schema, reason] of wrong)
    assert.match(refuseSchema({ type: 'object', ...schema }) ?? '', reason)
})

test('patterns run in linear time', () => {
  const check = createInputChecks()({ type: 'object', properties: { a: { pattern: '^(a+)+$' } } })
  assert.match(check({ a: `${'a'.repeat(20_000)}b` }) ?? '', /must match pattern/)
  assert.equal(check({ a: 'a'.repeat(20_000) }), null)
  for (const pattern of ['(?=a)', '(?<!a)b', '(a)\\1', '(', 'a{1001}', 'a'.repeat(1_001)]) {
    const schema = { type: 'object', patternProperties: { [pattern]: {} } }
    assert.notEqual(refuseSchema(schema), null, pattern)
  }
})
