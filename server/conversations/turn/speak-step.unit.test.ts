import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rulesIn, SystemTextGuard } from './speak-step.ts'

const RULES =
  'Answer the last message of the customer in its language and in complete sentences. State only facts about the company and its products from the passages.'

function shown(text: string, size = 3): [string, boolean] {
  const guard = new SystemTextGuard(RULES)
  const pieces = text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? []
  const all = pieces.map((piece) => guard.push(piece)).join('') + guard.flush()
  return [all, guard.isQuoted]
}

test('an answer that has a few words of the rules is shown whole', () => {
  for (const text of [
    'Our lamp has a warranty of five years [1].',
    'I answer the last message of the customer, of course.',
    'State only facts about the company and its prices: 🙂 12 €.',
    'The last message',
  ])
    for (const size of [1, 3, 200]) assert.deepEqual(shown(text, size), [text, false], text)
})

test('a quote of the rules is not shown, however it is written', () => {
  for (const text of [
    RULES,
    RULES.toUpperCase(),
    RULES.replaceAll(' ', '\n> '),
    RULES.replaceAll(' ', ' \u200b'),
    RULES.replaceAll('e', '*e*'),
    RULES.replaceAll('a', 'ａ'),
  ])
    for (const size of [1, 7, 400]) {
      const [said, isQuoted] = shown(`Here it is: ${text} Anything else?`, size)
      assert.ok(isQuoted, text)
      assert.doesNotMatch(said, /customer|language|Anything/i)
    }
})

test('the texts of the owner are not looked for', () => {
  const prompt = [
    { role: 'system' as const, content: `You sell lamps.\n\nCall us.\n\n${RULES}` },
    { role: 'user' as const, content: [{ type: 'text' as const, text: 'Hello' }] },
  ]
  assert.equal(rulesIn(prompt, ['You sell lamps.', null, 'Call us.']).trim(), RULES)
})
