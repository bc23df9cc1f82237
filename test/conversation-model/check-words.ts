import assert from 'node:assert/strict'
import type { MessagePart } from '../../server/platform/db/tables/conversations.ts'
import { type Spoken, wordsOf } from './scripted-model.ts'
import { ownParts, type State, type StoredGeneration, textIn } from './state.ts'
import type { Talk } from './talk.ts'

/** Checks that the stored text is what the model said and the readers received, with each word once. */
export function checkWords({ log }: Talk, state: State, spoken: Spoken[]): void {
  const used = new Set<number>()
  for (const generation of state.generations) {
    const own = ownParts(state, generation)
    const events = log.from(generation.first_event)
    const heard = events.map((event) => (event.type === 'text-delta' ? event.delta : '')).join('')
    const last = events.at(-1)
    if (own) {
      checkOrigin(own, generation, spoken, used)
      const text = textIn(own)
      // If a continuation was interrupted, only the results of its actions are kept.
      const isWhole =
        last?.type === 'finish' && (generation.status !== 'failed' || generation.kind === 'reply')
      if (isWhole) assert.equal(heard, text, 'heard and stored differ')
      else assert.ok(text.startsWith(heard) || heard.startsWith(text), `heard ${heard}, stored ${text}`)
    }
    if (last?.type !== 'finish') continue
    const { messageId, userMessageId, usage } = last.messageMetadata
    assert.deepEqual(
      [messageId, userMessageId, usage.credits],
      [generation.message_id, generation.user_message_id, generation.usage_credits],
    )
    if (own) assert.equal(last.finishReason, generation.finish_reason)
  }
}

function checkOrigin(
  own: MessagePart[],
  generation: StoredGeneration,
  spoken: Spoken[],
  used: Set<number>,
): void {
  const words = textIn(own).match(/r\d+w\d+ /g) ?? []
  assert.equal(words.join(''), textIn(own))
  const numbers = [...new Set(words.map((word) => Number(/\d+/.exec(word)?.[0])))]
  for (const [index, number] of numbers.entries()) {
    assert.ok(!used.has(number), `the answer ${number} is stored twice`)
    used.add(number)
    const { script } = spoken.find((one) => one.number === number)!
    const all = wordsOf(number, script)
    const these = words.filter((word) => word.startsWith(`r${number}w`))
    assert.deepEqual(these, all.slice(0, these.length))
    const isWhole = index < numbers.length - 1 || generation.status === 'finished'
    if (isWhole) assert.equal(these.length, all.length, `words of the answer ${number} are missing`)
  }
}
