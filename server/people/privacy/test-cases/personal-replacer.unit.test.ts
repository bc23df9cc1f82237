import assert from 'node:assert/strict'
import { test } from 'node:test'
import { personalReplacer } from './personal-replacer.ts'

const known = [
  { kind: 'email', value: 'anna.schroeder@post.example' },
  { kind: 'number', value: '+4930901820' },
  { kind: 'customer id', value: 'cust-4711' },
  { kind: 'vat_number', value: 'DE123456' },
]
const names = ['Anna Schröder']

test('the same value has the same mark in all texts, and others have other marks', () => {
  const { inOwnText, inText, inJson, marks } = personalReplacer(known, names)
  assert.equal(
    inOwnText('I am Anna Schröder, Anna.Schroeder@post.example, VAT de123456, customer cust-4711.'),
    'I am [name], [email], VAT [vat_number], customer [customer id].',
  )
  assert.equal(
    inOwnText('Write to my brother, ben@home.example, or call +49 (0)30 901820 or 0171 1234567.'),
    'Write to my brother, [email 2], or call [number] or [number 2].',
  )
  // What the company says of itself stays, and what the customer has given does not.
  assert.equal(
    inText('Dear Anna, we wrote to ben@home.example. Questions? help@shop.example, 0800 7654321.'),
    'Dear [name], we wrote to [email 2]. Questions? help@shop.example, 0800 7654321.',
  )
  const result = {
    owner: { 'anna.schroeder@post.example': ['Schröder', 12, true, null] },
    phone: 1_711_234_567,
  }
  assert.deepEqual(inJson(result), {
    owner: { '[email]': ['[name]', 12, true, null] },
    phone: 1_711_234_567,
  })
  assert.equal(inText('0171 1234567'), '[number 2]')
  assert.deepEqual(marks(), [
    '[email]',
    '[customer id]',
    '[vat_number]',
    '[name]',
    '[email 2]',
    '[number]',
    '[number 2]',
  ])
})

test('a name is found in addresses, and an address that has several words names a person', () => {
  const byName = personalReplacer([], ['Zoë Quist'])
  assert.equal(
    byName.inText('We sent it to z.quist@firm.example and to info@firm.example.'),
    'We sent it to [email] and to info@firm.example.',
  )
  assert.equal(byName.inText('zoe@firm.example, quists@firm.example'), '[email 2], [email 3]')
  const byAddress = personalReplacer([{ kind: 'email', value: 'mia.berg@post.example' }], [])
  assert.equal(byAddress.inOwnText('Thanks, Mia Berg'), 'Thanks, [name]')
  const single = personalReplacer([{ kind: 'email', value: 'orders@post.example' }], [])
  assert.equal(single.inOwnText('My orders are late'), 'My orders are late')
})

test('names without spaces around them, and names that are words', () => {
  const joined = personalReplacer([], ['田中太郎', '김철수'])
  assert.equal(joined.inOwnText('田中太郎です。'), '[name]です。')
  assert.equal(joined.inOwnText('김철수입니다'), '[name 2]입니다')
  const will = personalReplacer([], ['Will May'])
  assert.equal(will.inOwnText('It will come, may it? Will'), 'It will come, may it? [name]')
})

test('a value is never found within a mark, and texts cannot bring marks of their own', () => {
  const { inOwnText } = personalReplacer(
    [
      { kind: 'plan', value: 'email' },
      { kind: 'email', value: 'x@y.example' },
      { kind: '$&', value: 'dollar' },
    ],
    ['Name Number'],
  )
  assert.equal(
    inOwnText('x@y.example has email and a dollar, Name Number'),
    '[email] has [plan] and a [$&], [name]',
  )
  assert.equal(inOwnText('\u{F0000}\u{F0001} x@y.example'), ' [email]')
})

test('long and odd values do no harm', () => {
  const { inOwnText } = personalReplacer(
    [
      { kind: 'a', value: '(a+)+$' },
      { kind: 'b', value: '.*' },
    ],
    ['\\', '[x'],
  )
  assert.equal(inOwnText(`${'a'.repeat(50_000)}!`), `${'a'.repeat(50_000)}!`)
})

test('texts full of numbers and addresses are cleaned, and what was found is found again however it is surrounded', () => {
  const { inOwnText, inText } = personalReplacer(
    Array.from({ length: 5_000 }, (_, n) => ({ kind: 'k', value: `value-${n}` })),
    ['Anna Long'],
  )
  const numbers = Array.from({ length: 10_000 }, (_, n) => 100_000_001 + n * 37)
  for (let part = 0; part < 5; part++) {
    const text = numbers.slice(part * 2_000, (part + 1) * 2_000).join(', ')
    assert.doesNotMatch(inOwnText(text), /\d{9}/)
  }
  assert.doesNotMatch(inText(numbers.join(' ')), /\d{9}/)
  assert.equal(inText(`2024 ${numbers[1]} 12, A${numbers[1]}`), `2024 [number 2] 12, A${numbers[1]}`)
  const addresses = Array.from({ length: 2_000 }, (_, n) => `ben${n}@home.example`)
  assert.doesNotMatch(inOwnText(addresses.join(' ')), /home/)
  assert.equal(
    inText('https://shop.example/?mail=ben7@home.example.Thanks, BEN8@home.example/x, ben9@home.examples'),
    'https://shop.example/?mail=[email 8].Thanks, [email 9]/x, ben9@home.examples',
  )
})
