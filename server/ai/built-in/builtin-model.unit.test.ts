import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { streamText } from 'ai'
import fc from 'fast-check'
import { CUSTOMER_SENTENCES } from '../../platform/text/languages/customer-sentences.ts'
import { createBuiltinModel, wordGroups } from './builtin-model.ts'
import type { BuiltinInput, QuotablePassage } from './input.ts'

const model = createBuiltinModel()
const { en, de } = CUSTOMER_SENTENCES

const CANCEL: QuotablePassage = {
  headingPath: ['Help', 'Cancelling'],
  text: 'You cancel under Settings > Billing. Your plan stays active until the end of the period.',
}
const parley: BuiltinInput = {
  question: 'How do I cancel?',
  language: 'en',
  passages: [CANCEL],
  isFound: true,
  isIndexing: false,
  hasKnownWord: true,
  areEmpty: false,
  mayOffer: false,
}

function call(
  input: Partial<BuiltinInput> = {},
  more: Partial<LanguageModelV4CallOptions> = {},
): LanguageModelV4CallOptions {
  return {
    prompt: [{ role: 'user', content: [{ type: 'text', text: 'How do I cancel?' }] }],
    providerOptions: { parley: { ...parley, ...input } as never },
    ...more,
  }
}

async function partsOf(options: LanguageModelV4CallOptions): Promise<LanguageModelV4StreamPart[]> {
  const parts: LanguageModelV4StreamPart[] = []
  for await (const part of (await model.doStream(options)).stream) parts.push(part)
  return parts
}

async function said(input: Partial<BuiltinInput>) {
  const { content, providerMetadata } = await model.doGenerate(call(input))
  const [part] = content
  assert.ok(part?.type === 'text')
  return { text: part.text, ...(providerMetadata?.parley as object) }
}

const declined = { isFound: false, question: 'Who won the cup of the year 1954?' }

test('the stream has its parts in order, and its deltas are the text', async () => {
  const parts = await partsOf(call())
  const deltas = parts.filter((part) => part.type === 'text-delta')
  const types = parts.map(({ type }) => type)
  assert.deepEqual(
    [types.slice(0, 2), types.slice(-2)],
    [
      ['stream-start', 'text-start'],
      ['text-end', 'finish'],
    ],
  )
  assert.equal(parts.length, deltas.length + 4)
  assert.ok(deltas.length > 3)
  const whole = await model.doGenerate(call())
  assert.deepEqual(whole.content, [{ type: 'text', text: deltas.map((part) => part.delta).join('') }])
  const finish = parts.at(-1)!
  assert.ok(finish.type === 'finish')
  assert.equal(finish.finishReason.unified, 'stop')
  assert.deepEqual(finish.providerMetadata, { parley: { cited: [0], outcome: 'answered' } })
  assert.ok(finish.usage.inputTokens.total! > 0 && finish.usage.outputTokens.total! > 0)
})

test('the AI SDK reads it like any model', async () => {
  const result = streamText({
    model,
    prompt: 'How do I cancel?',
    providerOptions: { parley: parley as never },
  })
  assert.match(await result.text, /You cancel under Settings > Billing\./)
  assert.equal(await result.finishReason, 'stop')
})

test('at most three passages are quoted whole, with their headings and markers', async () => {
  const others = ['One.', '| a | b |\n| - | - |\n| 1 | 2 |', 'Four.'].map((text) => ({
    headingPath: [],
    text,
  }))
  assert.deepEqual(await said({ passages: [CANCEL, ...others] }), {
    text: `${en.found}\n\n**Cancelling**\n\n${CANCEL.text} [1]\n\nOne. [2]\n\n${others[1]!.text}\n\n[3]`,
    cited: [0, 1, 2],
    outcome: 'answered',
  })
})

test('a stored question is answered by its answer alone, however the search rates it', async () => {
  const stored = { headingPath: [], questions: ['Can I cancel?', 'How do I cancel'], text: 'At any time.' }
  const expected = { text: 'At any time. [1]', cited: [1], outcome: 'answered' }
  assert.deepEqual(await said({ passages: [CANCEL, stored] }), expected)
  assert.deepEqual(
    await said({ passages: [CANCEL, stored], question: '  HOW do I cancel?! ', isFound: false }),
    expected,
  )
  const { text } = await said({ passages: [stored], question: 'How can I cancel my plan?' })
  assert.equal(text, `${en.found}\n\n**Can I cancel?**\n\nAt any time. [1]`)
})

test('where nothing is found, one sentence says so, and a person is offered if there is one', async () => {
  assert.deepEqual(await said(declined), { text: en.notFound, cited: [], outcome: 'not_found' })
  assert.deepEqual(await said({ ...declined, mayOffer: true, language: 'de' }), {
    text: `${de.notFound} ${de.offer}`,
    cited: [],
    outcome: 'not_found',
    offer: 'person',
  })
  assert.deepEqual(
    await said({ ...declined, passages: [], areEmpty: true, question: 'Hi', hasKnownWord: false }),
    {
      text: en.noDocuments,
      cited: [],
      outcome: 'not_found',
    },
  )
})

test('while the documents are being indexed, nothing counts as not found', async () => {
  const indexing = { text: en.stillIndexing, cited: [], outcome: null }
  assert.deepEqual(await said({ ...declined, isIndexing: true, mayOffer: true }), indexing)
  assert.match((await said({ isIndexing: true })).text, /You cancel/)
})

test('a message of four words, none of which is in the documents, is greeted', async () => {
  for (const question of ['Hi', 'Good morning dear friends', '👍', '你好呀'])
    assert.equal((await said({ ...declined, question, hasKnownWord: false })).text, en.hello, question)
  assert.equal((await said({ ...declined, question: 'Hi', hasKnownWord: true })).text, en.notFound)
  for (const question of ['Good morning to all friends', 'あなたの会社の社長は誰ですか教えてください'])
    assert.equal((await said({ ...declined, question, hasKnownWord: false })).text, en.notFound, question)
})

test('a person is called first, and then the customer is told what became of it', async () => {
  const handover = { tool: 'escalate', input: { subject: 'A', summary: 'B' }, when: 'asked' as const }
  const [, called, end] = await partsOf(call({ handover }))
  assert.ok(called?.type === 'tool-call' && end?.type === 'finish')
  assert.deepEqual([called.toolName, called.input], ['escalate', '{"subject":"A","summary":"B"}'])
  assert.equal(end.finishReason.unified, 'tool-calls')
  const after = async (value: object, more: Partial<BuiltinInput> = {}) => {
    const result = { type: 'tool-result', toolCallId: 'handover', toolName: 'escalate' } as const
    const output = { type: 'json', value: value as never } as const
    const prompt = [{ role: 'tool' as const, content: [{ ...result, output }] }]
    const parts = await partsOf(call({ handover, language: 'de', ...more }, { prompt }))
    const start = parts.find(({ type }) => type === 'text-start') as { providerMetadata?: object }
    const text = parts.map((part) => (part.type === 'text-delta' ? part.delta : '')).join('')
    return [text, start.providerMetadata]
  }
  const outcome = 'handed_over'
  assert.deepEqual(await after({ status: 'success', data: {} }), [
    de.passedOn,
    { parley: { cited: [], outcome } },
  ])
  const away = { opensAt: '2026-01-05T08:00:00Z', timeZone: 'Europe/Berlin' }
  const [text] = await after({ status: 'success', data: away })
  assert.match(String(text), /Das Team ist wieder da: Montag, 5\. Januar.* 09:00.*\.$/)
  assert.deepEqual((await after({ status: 'error' }))[0], de.unreachable)
  // On mail, only what is not found goes to the team.
  const onMail = { handover: { ...handover, when: 'not_found' as const } }
  assert.match((await said(onMail)).text, /You cancel/)
  assert.equal((await partsOf(call({ ...declined, ...onMail })))[1]?.type, 'tool-call')
  assert.deepEqual(await after({ status: 'success', data: away }, { ...declined, ...onMail }), [
    `${de.notFound} ${de.teamTold}`,
    { parley: { cited: [], outcome: 'not_found' } },
  ])
})

test('every language has every sentence, at most twenty, and nothing else', () => {
  for (const [language, sentences] of Object.entries(CUSTOMER_SENTENCES)) {
    assert.deepEqual(Object.keys(sentences), Object.keys(en), language)
    assert.ok(Object.keys(sentences).length <= 20)
    assert.ok(sentences.backAt.includes('{time}'), language)
  }
})

test('without an input it uses the last user message', async () => {
  const question = (text: string): LanguageModelV4CallOptions => ({
    prompt: [{ role: 'user', content: [{ type: 'text', text }] }],
  })
  const { content } = await model.doGenerate(question('Hello'))
  assert.deepEqual(content, [{ type: 'text', text: en.hello }])
})

test('input in another format is rejected', async () => {
  const wrong = call({}, { providerOptions: { parley: { question: 'x' } } })
  await assert.rejects(async () => model.doStream(wrong), /providerOptions\.parley must hold/)
})

test('an abort ends the stream with its reason', async () => {
  const controller = new AbortController()
  const { stream } = await model.doStream(call({}, { abortSignal: controller.signal }))
  const reader = stream.getReader()
  await reader.read()
  await reader.read()
  controller.abort(new Error('stopped'))
  await assert.rejects(reader.read(), /stopped/)
  await assert.rejects(async () => model.doStream(call({}, { abortSignal: controller.signal })), /stopped/)
})

test('joined word groups equal the text, whatever it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => assert.equal(wordGroups(text).join(''), text)),
  )
  const spaced = fc.array(fc.constantFrom(' ', '\n', 'word', 'é', '\n\n- '), { maxLength: 40 })
  fc.assert(fc.property(spaced, (list) => assert.equal(wordGroups(list.join('')).join(''), list.join(''))))
})
