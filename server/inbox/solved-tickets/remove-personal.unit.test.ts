import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { beginningOf, removePersonal } from './remove-personal.ts'

const nobody = { names: [], others: [] }

test('addresses, numbers and names are removed, and the rest stays', () => {
  const person = { names: ['Will van Dyck'], others: ['cust-4711', '+49 30 1234567'] }
  const cases: [string, string][] = [
    ['Write to jane.doe+x@mail.example.co.uk, please.', 'Write to [email], please.'],
    ['Call +49 (0)30 123-45 67 or 0171/1234567.', 'Call [number] or [number].'],
    ['Call (555) 123-4567 or 555-1234.', 'Call [number] or [number].'],
    ['Card 4111 1111 1111 1111 was charged.', 'Card [number] was charged.'],
    ['Hello Will, dear Mr van Dyck, WILL VAN DYCK!', 'Hello [name], dear Mr [name], [name]!'],
    ['The order will arrive, William.', 'The order will arrive, William.'],
    ['Your account cust-4711 is open.', 'Your account [contact] is open.'],
    [
      'On 2026-01-05 it cost 1 200.50 EUR for 24 months, HTTP 404.',
      'On 2026-01-05 it cost 1 200.50 EUR for 24 months, HTTP 404.',
    ],
    ['Version 2.10.3 of 12.05.2026 has 10,000 users.', 'Version 2.10.3 of 12.05.2026 has 10,000 users.'],
  ]
  for (const [text, clean] of cases) assert.equal(removePersonal(text, person), clean)
})

test('the beginning of a long text contains no partial address, number or name', () => {
  const person = { names: ['Ann Miller'], others: [] }
  const values = ['ann.miller@example.com ', '+49 30 1234567 ', 'Ann Miller ', 'please ']
  for (let most = 500; most < 540; most++) {
    const text = beginningOf(values.join('').repeat(40), most)
    assert.ok(text.length <= most && text.length > most - 60, `${text.length} of ${most}`)
    assert.match(removePersonal(text, person), /^(?:(?:\[(?:email|number|name)\]|please) ?)+$/)
  }
  assert.equal(beginningOf('漢'.repeat(2_000), 1_000).length, 600)
  assert.equal(beginningOf('short', 1_000), 'short')
})

test('names with regular expression characters do no harm', () => {
  const text = 'Is (a+)+$ or [x] there? A.*B'
  assert.equal(removePersonal(text, { names: ['(a+)+$', '.*', '\\'], others: ['[x'] }).includes('[x]'), false)
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (name, body) => {
      removePersonal(body, { names: [name], others: [name] })
    }),
  )
})

test('no address survives, wherever it is', () => {
  const word = fc.string({ unit: fc.constantFrom(...'abcxyz '), maxLength: 20 })
  fc.assert(
    fc.property(word, fc.emailAddress(), word, (before, address, behind) => {
      const clean = removePersonal(`${before} ${address} ${behind}`, { ...nobody, others: [address] })
      assert.ok(!clean.includes(address))
    }),
  )
})

test('long texts are processed quickly', () => {
  const text = '1 '.repeat(200_000) + 'a@'.repeat(50_000) + '+1('.repeat(50_000)
  assert.ok(removePersonal(text, { names: ['A B'], others: [] }).length > 0)
})
