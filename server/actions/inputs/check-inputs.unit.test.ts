import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createInputChecks, refuseSchema } from './check-inputs.ts'

test('schemas of the draft are accepted, with references to their own parts', () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { from: { $ref: '#/$defs/day%20of~1year' }, to: { $ref: '#/$defs/day%20of~1year' } },
    propertyNames: { maxLength: 9 },
    unevaluatedProperties: false,
    $defs: { 'day of/year': { type: 'string', format: 'date' } },
  }
  assert.equal(refuseSchema(schema), null)
  const check = createInputChecks()(schema)
  assert.equal(check({ from: '2026-02-28' }), null)
  assert.match(check({ to: '2026-02-30' }) ?? '', /^The input "to" must match format "date"\.$/)
  assert.equal(check({ y: 1 }), 'The input "y" is not known.')
})

test('references that dangle, leave the schema, form a cycle or expand too far are rejected', () => {
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
  for (const pattern of ['(?=a)', '(?<!a)b', '(a)\\1', '(', 'a{1001}']) {
    const schema = { type: 'object', properties: { a: { pattern } } }
    assert.notEqual(refuseSchema(schema), null, pattern)
  }
})

test('patterns are limited in number, length and size, and cannot match property names', () => {
  const taken = ['^.{1,100}$', '^[A-Z]{2}\\d{2}[A-Z0-9]{11,30}$', 'a'.repeat(200)]
  const schemaOf = (patterns: string[]) => ({
    type: 'object',
    properties: Object.fromEntries(patterns.map((pattern, n) => [`a${n}`, { pattern }])),
  })
  assert.equal(refuseSchema(schemaOf([...taken, ...Array(17).fill('^a')])), null)
  const wrong: [object, RegExp][] = [
    [schemaOf(Array(21).fill('^a')), /at most 20 patterns/],
    [schemaOf(['a'.repeat(201)]), /at most 200 characters/],
    [schemaOf(['(a{40}){40}']), /cannot be used/],
    [schemaOf(Array(5).fill('^.{1,100}$')), /patterns are too large/],
    [{ patternProperties: { '^a': {} } }, /Must not use patternProperties/],
    [{ propertyNames: { anyOf: [{ pattern: '^a' }] } }, /propertyNames/],
    [{ propertyNames: { $ref: '#/$defs/a' }, $defs: { a: {} } }, /propertyNames/],
    [{ properties: { a: { allOf: Array(21).fill({ uniqueItems: true }) } } }, /too large/],
  ]
  for (const [schema, reason] of wrong)
    assert.match(refuseSchema({ type: 'object', ...schema }) ?? '', reason)
  const names = { properties: { patternProperties: { type: 'string' }, propertyNames: { pattern: 'a' } } }
  assert.equal(refuseSchema({ type: 'object', ...names }), null)
})

test('inputs that are too expensive to check are rejected', () => {
  const check = createInputChecks()({
    type: 'object',
    properties: { a: {}, b: { allOf: Array(20).fill({ pattern: '\\d[\\s\\S]{100}' }) } },
  })
  assert.equal(check({ a: Array(990).fill(1) }), null)
  assert.match(check({ a: Array(1_000).fill(1) }) ?? '', /1,000 values/)
  assert.match(check({ a: 'ü'.repeat(17_000) }) ?? '', /32 KB/)
  assert.notEqual(check({ a: JSON.parse('['.repeat(50_000) + ']'.repeat(50_000)) }), null)
  assert.equal(check({ b: '1'.repeat(200) }), null)
  assert.throws(() => check({ b: '1'.repeat(5_000) }), /too long for the patterns/)
  assert.equal(check({ b: '1'.repeat(200) }), null, 'each check has its own bound')
})
