import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { factOf } from '../../../bench/answers/fact-of.ts'
import { loadCollections } from '../../../bench/answers/load-collections.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { trained } from '../../../test/until.ts'
import { createAgent } from '../../agents/records/create-agent.ts'
import { FOUND_FROM, type SearchOptions } from './knowledge.ts'
import type { Passage } from './search-result.ts'

let service: Service
let client: Client

before(async () => {
  service = await startService()
  client = await service.account()
})
after(() => service.close())

type Source = { name?: string; text: string } | { questions: string[]; answer: string }

/** Creates an agent with these sources, and returns their ids in order. */
async function agentWith(...sources: Source[]): Promise<{ agentId: string; ids: string[] }> {
  const account = { id: client.accountId, plan: 'unlimited' }
  const agentId = await createAgent(service.ctx.db, account, 'test', { name: 'Agent' })
  const ids: string[] = []
  for (const [i, source] of sources.entries()) {
    const body =
      'text' in source
        ? { type: 'text', name: source.name ?? `Source ${i}`, content: source.text }
        : { type: 'qna', name: `Source ${i}`, ...source }
    const answer = await client.request('POST', `/agents/${agentId}/sources`, body)
    assert.equal(answer.status, 201, JSON.stringify(answer.body))
    ids.push(answer.body.id)
  }
  for (const id of ids) await trained(service, id)
  return { agentId, ids }
}

async function search(agentId: string, question: string, options: Partial<SearchOptions> = {}) {
  const { knowledge_version } = await service.ctx.db
    .selectFrom('agents')
    .select('knowledge_version')
    .where('id', '=', agentId)
    .executeTakeFirstOrThrow()
  const agent = { id: agentId, accountId: client.accountId, knowledgeVersion: knowledge_version }
  return service.ctx.knowledge.search(agent, [question], { limit: 8, ...options })
}

const sourcesOf = (passages: readonly Passage[]): string[] => passages.map(({ sourceId }) => sourceId)

test('text in every script is found by a word of its own', async () => {
  const texts: [text: string, question: string][] = [
    ['商品到着後三十日以内であれば返品できます。送料は無料です。', '返品したい'],
    ['您可以在设置页面修改密码。', '怎么修改密码'],
    ['환불은 영업일 기준 5일 이내에 처리됩니다.', '환불 언제'],
    ['ร้านเปิดทุกวันตั้งแต่เก้าโมงเช้าถึงหกโมงเย็น', 'เปิดทุกวันไหม'],
    ['يستغرق التوصيل إلى المدينة ثلاثة أيام عمل.', 'كم يستغرق التوصيل؟'],
    ['האחריות על המנורות היא לחמש שנים מיום הקנייה.', 'כמה שנים האחריות?'],
    ['वापसी के लिए सामान तीस दिन के भीतर भेजें।', 'वापसी कैसे करें?'],
    ['Доставка занимает три рабочих дня.', 'Сколько занимает доставка?'],
    ['Η εγγύηση της λάμπας διαρκεί πέντε χρόνια.', 'Πόσο διαρκεί η εγγύηση;'],
    ['Die Lampen haben eine Garantie von fünf Jahren.', 'Wie lange ist die Garantie?'],
  ]
  const { agentId, ids } = await agentWith(...texts.map(([text]) => ({ text })))
  for (const [at, [, question]] of texts.entries()) {
    const { passages, hasKnownWord } = await search(agentId, question)
    assert.equal(passages[0]?.sourceId, ids[at], question)
    assert.ok(hasKnownWord, question)
  }
})

test('codes, amounts and phone numbers are found in any punctuation', async () => {
  const { agentId, ids } = await agentWith(
    { text: 'Error F-22/7 means that the water pressure is too low.' },
    { text: 'Call us at +43 1 555 12-34 from nine to five.' },
    { text: 'The annual fee is 1,250.00 euros.' },
    { text: 'The part has the number 4711 and is in stock.' },
  )
  const questions: [string, number][] = [
    ['f22/7', 0],
    ['What is F-227?', 0],
    ['4315551234', 1],
    ['is it +43/1/5551234', 1],
    ['why was 1250 charged', 2],
    ['1.250,00', 2],
    ['4711', 3],
  ]
  for (const [question, at] of questions) {
    const { passages } = await search(agentId, question)
    assert.equal(passages[0]?.sourceId, ids[at], question)
  }
})

test('a stored question wins over everything, however it is written', async () => {
  const { agentId, ids } = await agentWith(
    { text: 'Opening hours: what are your opening hours? Opening hours.' },
    { questions: ['What are your opening hours?', 'When open?'], answer: 'We are there from nine to five.' },
  )
  const { passages, confidence } = await search(agentId, '  what are YOUR opening hours')
  assert.deepEqual([passages[0]?.sourceId, passages[0]?.score, confidence], [ids[1], 1, 1])
  assert.equal((await search(agentId, 'when OPEN??')).passages[0]?.sourceId, ids[1])
})

test('of several with the same question the newest is first, also together with what it follows up on', async () => {
  const questions = ['How long do returns take?']
  const { agentId, ids } = await agentWith(
    { questions, answer: 'Returns take 30 days.' },
    {
      text: 'Returns of kayaks: how long returns of kayaks take depends on the kayak. Kayak returns take a month.',
    },
    { questions, answer: 'It is 14 days since May.' },
  )
  const agent = { id: agentId, accountId: client.accountId, knowledgeVersion: 1 }
  for (const queries of [
    questions,
    [...questions, 'Do you sell kayaks? How long do returns of kayaks take?'],
  ]) {
    const { passages } = await service.ctx.knowledge.search(agent, queries, { limit: 8 })
    assert.deepEqual(sourcesOf(passages).slice(0, 2), [ids[2], ids[0]])
    assert.ok(passages.every(({ score }, at) => score <= (passages[at - 1]?.score ?? 1)))
  }
})

test('headings, names of sources, and words beside a misspelt one are found', async () => {
  const { agentId, ids } = await agentWith(
    { text: '# Shipping\n\n## Express\n\nIt takes two days.' },
    { text: 'Press the button.', name: 'Dishwasher manual' },
    { text: 'Our subscription can be paused. A contract cannot be paused.' },
    { text: 'Our newsletter can be paused.' },
  )
  assert.equal((await search(agentId, 'express')).passages[0]?.sourceId, ids[0])
  assert.equal((await search(agentId, 'dishwasher')).passages[0]?.sourceId, ids[1])
  assert.equal((await search(agentId, 'can a subscripton be paused')).passages[0]?.sourceId, ids[2])
})

test('a question without a word of the documents finds nothing', async () => {
  const { agentId } = await agentWith({ text: 'The kayak costs 900 euros.' })
  const empty = await agentWith()
  for (const question of ['', '   ', '?!', '🙂', 'hi', 'Who painted this?']) {
    const { passages, confidence, isFound, isIndexing, hasKnownWord } = await search(agentId, question)
    assert.deepEqual(
      { passages, confidence, isFound, isIndexing, hasKnownWord },
      { passages: [], confidence: 0, isFound: false, isIndexing: false, hasKnownWord: false },
      question,
    )
    assert.deepEqual((await search(empty.agentId, question)).passages, [])
  }
})

test('a question of 10,000 characters is searched', async () => {
  const { agentId, ids } = await agentWith({ text: 'The kayak costs 900 euros.' }, { text: 'We sell tents.' })
  const question = `How much is the kayak? ${'I looked at it for a long time, really. '.repeat(250)}`
  assert.equal((await search(agentId, question.slice(0, 10_000))).passages[0]?.sourceId, ids[0])
  assert.ok((await search(agentId, 'kayak'.repeat(2_000))).passages.length <= 2)
})

test('passages that say the same take one place', async () => {
  const footer = '# Contact\n\nCall us at night: 01 555 12 34.'
  const { agentId } = await agentWith(...['a', 'b', 'c'].map((name) => ({ text: footer, name })), {
    text: 'You can call the hotel at night, too.',
  })
  const { passages } = await search(agentId, 'Can I call you at night?', { limit: 3 })
  assert.equal(passages.length, 2)
})

test('what is changed or deleted is searched as it is now, and another agent never appears', async () => {
  const text = 'The warranty of the kettle lasts three years.'
  const [own, other] = [await agentWith({ text }), await agentWith({ text })]
  const clone = (await client.request('POST', `/agents/${own.agentId}/clone`)).body.id
  const path = `/agents/${own.agentId}/sources/${own.ids[0]}`
  const question = 'How long is the warranty of the kettle?'
  const found = async (agentId: string) => (await search(agentId, question)).passages
  for (const [agentId, mayBe] of [
    [own.agentId, own.ids],
    [other.agentId, other.ids],
  ] as const)
    assert.deepEqual(sourcesOf(await found(agentId)), mayBe)
  // A clone shares the salt of its original, so both have the same hashes.
  const copied = await found(clone)
  assert.equal(copied.length, 1)
  assert.ok(![...own.ids, ...other.ids].includes(copied[0]!.sourceId))

  await client.request('PUT', path, { content: 'The warranty of the kettle lasts ten years.' })
  await trained(service, own.ids[0]!)
  assert.match((await found(own.agentId))[0]!.text, /ten years/)
  assert.match((await found(clone))[0]!.text, /three years/)
  await client.request('DELETE', path)
  assert.deepEqual(await found(own.agentId), [])
  assert.equal((await found(clone)).length, 1)
})

test('scores are in order and between 0 and 1, for any question', async () => {
  const { agentId } = await agentWith(
    { text: 'Cancel under settings.' },
    { text: 'Refunds take five days.' },
    { text: 'Rückgabe binnen 30 Tagen.' },
    { text: '退款需要五天。' },
  )
  const word = fc.constantFrom('refund', 'cancel', 'Tage', '退款', 'how', 'xyz', '\u0000', '5')
  await fc.assert(
    fc.asyncProperty(fc.array(word, { maxLength: 12 }), fc.string(), async (known, noise) => {
      const { passages, confidence, isFound } = await search(agentId, `${known.join(' ')} ${noise}`)
      assert.ok(confidence >= 0 && confidence <= 1 && passages.length <= 4)
      assert.equal(isFound, confidence >= FOUND_FROM)
      passages.forEach(({ score }, i) => {
        assert.ok(score >= 0 && score <= (passages[i - 1]?.score ?? 1))
      })
    }),
    { numRuns: 50 },
  )
})

test('the passage with the fact is among the first three for three of four questions about companies', async () => {
  let found = 0
  let asked = 0
  for (const { chunks, answerable } of await loadCollections(['de', 'en'])) {
    const text = chunks.map(({ headingPath, text }) => `# ${headingPath.join(', ')}\n\n${text}`)
    const { agentId } = await agentWith({ text: text.join('\n\n') })
    for (const { question, fact } of answerable) {
      const holds = factOf(fact)
      const { passages } = await search(agentId, question, { limit: 3 })
      asked++
      if (passages.some(({ headingPath, text }) => holds(`${headingPath.join(' ')} ${text}`))) found++
    }
  }
  assert.ok(asked > 40 && found / asked >= 0.74, `${found} of ${asked}`)
})
