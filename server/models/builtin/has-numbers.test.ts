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
    ['The phone 15 with 256 GB costs 999 euros.', 'How much is the phone 15 256 GB?'],
    ['Das kostet 3,50 Euro.', 'Kostet es 3,5 Euro?'],
    ['It costs 1.299¹ euros.', 'Does it cost 1299?'],
    ['From 9 am to 5 pm.', 'Are you open at 09:00?'],
    ['You find it in the settings.', '1. How do I cancel?'],
    ['You find it in the settings.', 'How do I cancel? Regards, Ann, +43 660 1234567'],
    ['We are there around the clock.', 'Are you open 24/7?'],
    ['The deposit is 1,00,000 rupees.', 'Is the deposit 100000 rupees?'],
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
