import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { streamText } from 'ai'
import fc from 'fast-check'
import { loadWordVectors } from '../static/word-vectors.ts'
import { createBuiltinModel, wordGroups } from './builtin-model.ts'
import { phrasesFor } from './phrases/phrases.ts'

const model = createBuiltinModel(loadWordVectors())

const parley = {
  question: 'How do I cancel?',
  confidence: 0.9,
  passages: [
    {
      sourceId: 's1',
      sourceName: 'Help',
      url: 'https://help.example/cancel',
      headingPath: ['Cancelling'],
      page: null,
      text: 'You cancel under Settings > Billing. Your plan stays active until the end of the period. We are sorry.',
      score: 0.9,
    },
  ],
}

function call(more: Partial<LanguageModelV4CallOptions> = {}): LanguageModelV4CallOptions {
  return {
    prompt: [{ role: 'user', content: [{ type: 'text', text: 'How do I cancel?' }] }],
    providerOptions: { parley },
    ...more,
  }
}

test('the stream has its parts in order, and its deltas are the text', async () => {
  const { stream } = await model.doStream(call())
  const parts: LanguageModelV4StreamPart[] = []
  for await (const part of stream) parts.push(part)
  const deltas = parts.filter((part) => part.type === 'text-delta')
  assert.deepEqual(
    parts.slice(0, 2).map((part) => part.type),
    ['stream-start', 'text-start'],
  )
  assert.deepEqual(
    parts.slice(-2).map((part) => part.type),
    ['text-end', 'finish'],
  )
  assert.equal(parts.length, deltas.length + 4)
  assert.ok(deltas.length > 3)
  const whole = await model.doGenerate(call())
  assert.deepEqual(whole.content, [{ type: 'text', text: deltas.map((part) => part.delta).join('') }])
  const finish = parts.at(-1)!
  assert.ok(finish.type === 'finish')
  assert.equal(finish.finishReason.unified, 'stop')
  assert.deepEqual(finish.providerMetadata, { parley: { band: 'answer', score: 0.9, cited: [0] } })
  assert.ok(finish.usage.inputTokens.total! > 0 && finish.usage.outputTokens.total! > 0)
})

test('the AI SDK reads it like any model', async () => {
  const result = streamText({ model, prompt: 'How do I cancel?', providerOptions: { parley } })
  const text = await result.text
  assert.match(text, /You cancel under Settings > Billing\./)
  assert.equal(await result.finishReason, 'stop')
})

test('without passages it uses the last user message', async () => {
  const question = (text: string): LanguageModelV4CallOptions =>
    call({ providerOptions: {}, prompt: [{ role: 'user', content: [{ type: 'text', text }] }] })
  const hello = await model.doGenerate(question('Hello'))
  assert.deepEqual(hello.content, [{ type: 'text', text: phrasesFor('en').hello }])
  const other = await model.doGenerate(question('Wo ist mein Paket?'))
  assert.deepEqual(other.content, [
    { type: 'text', text: `${phrasesFor('de').decline} ${phrasesFor('de').offer}` },
  ])
})

test('input in another format is rejected', async () => {
  const wrong = call({ providerOptions: { parley: { question: 'x' } } })
  await assert.rejects(async () => model.doStream(wrong), /providerOptions\.parley must hold/)
})

test('an abort ends the stream with its reason', async () => {
  const controller = new AbortController()
  const { stream } = await model.doStream(call({ abortSignal: controller.signal }))
  const reader = stream.getReader()
  await reader.read()
  await reader.read()
  controller.abort(new Error('stopped'))
  await assert.rejects(reader.read(), /stopped/)
  await assert.rejects(async () => model.doStream(call({ abortSignal: controller.signal })), /stopped/)
})

test('joined word groups equal the text, whatever it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => assert.equal(wordGroups(text).join(''), text)),
  )
  const spaced = fc.array(fc.constantFrom(' ', '\n', 'word', 'é', '\n\n- '), { maxLength: 40 })
  fc.assert(fc.property(spaced, (list) => assert.equal(wordGroups(list.join('')).join(''), list.join(''))))
})
