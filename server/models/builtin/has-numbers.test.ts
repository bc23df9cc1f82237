import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasNumbers } from './has-numbers.ts'

test('a number is recognised in other digits, with other separators, and with leading zeros', () => {
  for (const [text, question] of [
    ['We are open from 09:00 to 18:30.', 'Are you open at 9?'],
    ['Up to 10,000 requests.', 'Can I send 10 000 requests?'],
    ['Up to 1200 requests.', "Are 1'200 requests enough?"],
    ['يستغرق ٢٤ ساعة', 'هل يستغرق 24 ساعة؟'],
    ['४८ घंटे', 'क्या 48 घंटे लगते हैं?'],
    ['１２時から', '12時に開いていますか。'],
    ['It weighs 3,5 kg.', 'Does it weigh 3.5 kg?'],
    ['The fee of 2024 is 3 %.', 'What was the fee in 2024?'],
    ['No number is asked for.', 'Which number?'],
  ] as const)
    assert.ok(hasNumbers(text, question), question)
})

test('a number that is only part of another one is missing', () => {
  for (const [text, question] of [
    ['It takes 120 minutes.', 'Does it take 12 minutes?'],
    ['The extension to 10 years costs 90.', 'What is the extension to 12 years?'],
    ['In 2024 300 people came.', 'Did 24 people come?'],
  ] as const)
    assert.ok(!hasNumbers(text, question), question)
})
