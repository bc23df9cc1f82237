import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutPaymentNumbers } from './payment-numbers.ts'

test('numbers of cards and accounts are replaced', () => {
  const cases: [string, string][] = [
    ['My card 4111 1111 1111 1111, please', 'My card [card number …1111], please'],
    ['5500-0055-5555-5559', '[card number …5559]'],
    ['378282246310005.', '[card number …0005].'],
    ['IBAN DE89 3704 0044 0532 0130 00 is mine', 'IBAN [account number …3000] is mine'],
    ['GB82WEST12345698765432', '[account number …5432]'],
    ['fr14 2004 1010 0505 0001 3m02 606', '[account number …2606]'],
  ]
  for (const [text, expected] of cases) assert.equal(withoutPaymentNumbers(text), expected)
})

test('other numbers stay', () => {
  for (const text of [
    'Order 4111111111111112',
    'Call +49 30 901820123456',
    '0000 0000 0000 0000',
    'DE89 3704 0044 0532 0130 01',
    'Article DE12 lamp and 12 others in 3 colours',
  ])
    assert.equal(withoutPaymentNumbers(text), text)
})
