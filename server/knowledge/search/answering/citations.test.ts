import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { type ModelServer, startModelServer } from '../../../../test/fakes/model-server.ts'
import { makePdf } from '../../../../test/fixtures/make-pdf.ts'
import { promptParts } from '../../../../test/prompt-parts.ts'
import { readStream } from '../../../../test/read-stream.ts'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { trained, until } from '../../../../test/until.ts'
import { publicAgent, visitorOf } from '../../../../test/visitor.ts'
import { buildPrompt } from '../../../conversations/prompt/build-prompt.ts'
import { json } from '../../../platform/db/statements/json.ts'
import type { Passage } from '../search-result.ts'
import { Citations, citedSource, withoutMarkers } from './citations.ts'

const passages = ['one', 'two', 'three'].map(
  (name): Passage => ({
    chunkId: name,
    sourceId: name,
    sourceName: name,
    url: null,
    headingPath: [],
    page: null,
    text: `This is what passage ${name} says.`,
    score: 0.9,
  }),
)

function cite(pieces: string[], order: number[] | null = null): { text: string; ids: string[] } {
  const citations = new Citations(passages, [])
  citations.numberBy(order)
  const text = pieces.map((piece) => citations.push(piece)).join('') + citations.flush()
  return { text, ids: citations.sources().map(({ id }) => id) }
}

/** The same from passages, the first of which says `text`. */
function citeFrom(text: string, written: string) {
  const citations = new Citations([{ ...passages[0]!, text }, ...passages.slice(1)], [])
  const shown = [...written].map((piece) => citations.push(piece)).join('') + citations.flush()
  return { text: shown, ids: citations.sources().map(({ id }) => id) }
}

test('markers are numbered by the order of the sources, and invalid ones are dropped', () => {
  const cases: [written: string, text: string, ids: string[]][] = [
    ['Yes [3]. No [1].', 'Yes [1]. No [2].', ['three', 'one']],
    ['Both [1, 3] and again [3].', 'Both [1][2] and again [2].', ['one', 'three']],
    ['All [1-3].', 'All [1][2][3].', ['one', 'two', 'three']],
    ['None [4] of [0], [99].', 'None of,.', []],
    ['Some [2, 9].', 'Some [1].', ['two']],
    ['Otherwise [^2], [passage 2], 【2†source】.', 'Otherwise [1], [1], [1].', ['two']],
    ['In 【5†doc】 nothing', 'In nothing', []],
    ['`list[1]` and [2]', '`list[1]` and [1]', ['two']],
    ['```js\na[7] = b[1]\n```\nSee [1]', '```js\na[7] = b[1]\n```\nSee [1]', ['one']],
    ['A lone ` tick [2]\nnext [9] line', 'A lone ` tick [1]\nnext line', ['two']],
    ['[a link](https://x.example) [x] [2024] [', '[a link](https://x.example) [x] [2024] [', []],
    ['It ends [1', 'It ends', []],
    ['Read process.argv[2] [2].', 'Read process.argv[2] [1].', ['two']],
    ['Is argv[1] there, and argv[9]? Yes[1].', 'Is argv[1] there, and argv[9]? Yes[1].', ['one']],
    [
      'm[1][2], items[0], my_list[3], lastRow[1], f()[2]',
      'm[1][2], items[0], my_list[3], lastRow[1], f()[2]',
      [],
    ],
    [
      '**Five years**[3], in Ulm[1][9], by Node.js[2].',
      '**Five years**[1], in Ulm[2], by Node.js[3].',
      ['three', 'one', 'two'],
    ],
    ['保証[1]、_so_[2], 49[3], a[9] I[9]', '保証[1]、_so_[2], 49[3], a I', ['one', 'two', 'three']],
  ]
  for (const [written, text, ids] of cases) assert.deepEqual(cite([written]), { text, ids }, written)
  assert.deepEqual(cite(['First [1], second [2].'], [2, 0]), {
    text: 'First [1], second [2].',
    ids: ['three', 'one'],
  })
  assert.deepEqual(citeFrom('```js\nfont(colors[0])\n```', 'It is colors[3] [2], Colors[1], size[9].'), {
    text: 'It is colors[3] [1], Colors[2], size.',
    ids: ['two', 'one'],
  })
  assert.deepEqual(citeFrom('Use `colors[i]` of Ulm[1].', 'It is colors[1], in Ulm[1].'), {
    text: 'It is colors[1], in Ulm[1].',
    ids: ['one'],
  })
  assert.equal(withoutMarkers('A quote[12] of `a[1]`.'), 'A quote of `a[1]`.')
  assert.equal(withoutMarkers('A quote[12] of sys.argv[1] [2].'), 'A quote of sys.argv[1].')
})

test('rows reach the model and the reader as a table, and a quote is one contiguous piece of its source', () => {
  const rows = Array.from(
    { length: 30 },
    (_, n) => `Plan: Plan ${n}; Price: ${n} EUR a month; Users: ${n * 5}`,
  )
  const passage = { ...passages[0]!, text: `Our prices.\n\n${rows.join('\n')}` }
  const prompt = buildPrompt(promptParts('What is plan 7?', { passages: [passage] }))
  assert.match(JSON.stringify(prompt), /\| Plan \| Price \| Users \|\\n\| - \| - \| - \|\\n\| Plan 0 \|/)
  const { quote } = citedSource(passage, 'Plan 7 costs 7 EUR a month for 35 users')
  const [names, , ...values] = quote.split('\n')
  assert.equal(names, '| Plan | Price | Users |')
  const first = Number(/Plan (\d+)/.exec(values[0]!)![1])
  assert.deepEqual(
    values,
    values.map((_, at) => `| Plan ${first + at} | ${first + at} EUR a month | ${(first + at) * 5} |`),
  )
  assert.ok(values.some((value) => value.includes('Plan 7 ')))
})

test('the output does not depend on how the text is split, and every number has its source', () => {
  const piece = fc.constantFrom(
    '[',
    ']',
    '1',
    '2',
    '9',
    ', ',
    ' ',
    '`',
    '```',
    '\n',
    'word',
    '【',
    '】',
    '†',
    '^',
    '-',
  )
  const written = fc.array(piece, { maxLength: 30 })
  fc.assert(
    fc.property(written, (pieces) => {
      const whole = cite([pieces.join('')])
      assert.deepEqual(cite(pieces), whole)
      assert.deepEqual(cite([...pieces.join('')]), whole)
      const outside = whole.text.replace(/```[\s\S]*?(```|$)|`[^`\n]*`|``[^\n]*?``/g, '')
      if (whole.text.includes('`')) return
      for (const [, number] of outside.matchAll(/\[(\d{1,3})\]/g))
        assert.ok(Number(number) <= whole.ids.length)
    }),
    { numRuns: 300, examples: [[['```', '```', '[', '2', ']']]] },
  )
})

let models: ModelServer
let service: Service
let client: Client
let agentId: string

before(async () => {
  models = await startModelServer()
  service = await startService(models.settings)
  client = await service.account()
  agentId = await publicAgent(client)
})
after(async () => {
  await service.close()
  await models.close()
})

const QUESTION = 'How long is the warranty of the lamp?'

test('markers and sources have the same numbers in every answer, and a file opens at its page', async () => {
  const form = new FormData()
  form.set('name', 'Manual')
  const pdf = makePdf([
    { heading: '', lines: ['The lamp has a warranty of eleven years.'] },
    { heading: '', lines: ['The shade of the lamp is made of paper.'] },
  ])
  form.set('file', new Blob([pdf as Uint8Array<ArrayBuffer>]), 'manual.pdf')
  const uploaded = await client.raw('POST', `/agents/${agentId}/sources`, { body: form })
  const { id } = (await uploaded.json()) as { id: string }
  await trained(service, id)
  const content = '# Where it is made\n\n## Lamps\n\nEvery lamp with a warranty was built in Ulm.'
  const text = { type: 'text', name: 'Lamp', content }
  await trained(service, (await client.request('POST', `/agents/${agentId}/sources`, text)).body.id)

  // The markers use the model's numbers, are split across tokens, and include one that refers to nothing.
  models.otherwise(({ body: sent }) => {
    const titles = [
      ...JSON.stringify(sent.messages)
        .replaceAll('\\"', '"')
        .matchAll(/<passage number="(\d)" title="(\w+)/g),
    ]
    const numberOf = (title: string) => titles.findLast(([, , of]) => of === title)?.[1]
    return {
      tokens: [
        'Eleven years',
        ' [',
        '9',
        '] [',
        `${numberOf('Manual')}`,
        ']. In Ulm [',
        `${numberOf('Lamp')}].`,
      ],
    }
  })
  const path = `/agents/${agentId}/chat`
  const said = 'Eleven years [1]. In Ulm [2].'
  const names = ['Manual', 'Lamp']
  const check = (sources: Record<string, unknown>[], where: string) => {
    assert.deepEqual(
      sources.map(({ name }) => name),
      names,
      where,
    )
    assert.deepEqual(Object.keys(sources[0]!).sort(), [
      'anchor',
      'headingPath',
      'id',
      'name',
      'page',
      'quote',
      'score',
      'url',
    ])
    assert.equal(sources[0]!.page, 1, where)
    assert.deepEqual(
      sources.map(({ headingPath }) => headingPath),
      [[], ['Where it is made', 'Lamps']],
      where,
    )
    assert.match(String(sources[0]!.quote), /eleven years/)
    assert.match(String(sources[1]!.quote), /built in Ulm/)
  }
  const { body } = await client.request('POST', path, { message: QUESTION, stream: false })
  const { conversationId } = body.data.metadata
  assert.equal(body.data.parts[0].text, said)
  check(body.data.metadata.sources, 'JSON')

  const streamed = await readStream(
    await client.raw('POST', path, {
      body: JSON.stringify({ message: QUESTION }),
      headers: { 'content-type': 'application/json' },
    }),
  )
  assert.equal(streamed.text, said)
  const told = streamed.events.findLast(({ event }) => event === 'data-sources')!.data as never as {
    data: { sources: Record<string, unknown>[] }
  }
  check(told.data.sources, 'stream')

  const ask = { chatbotId: agentId, messages: [{ role: 'user', content: QUESTION }] }
  const one = await client.request('POST', '/api/v1/chat', ask, { 'idempotency-key': randomUUID() })
  assert.equal(one.body.text, said)
  check(one.body.sources, 'version 1')

  const read = (await client.request('GET', `/agents/${agentId}/conversations/${conversationId}/messages`))
    .body
  check(read.data[1].metadata.sources, 'read')
  const exported = (
    await client.request('GET', `/agents/${agentId}/conversations/export?conversationId=${conversationId}`)
  ).body
  check(exported.data[0].messages[1].metadata.sources, 'export')

  const visitor = visitorOf(service, agentId)
  const { conversationId: theirs } = await visitor.write(QUESTION)
  const seen = await until('the answer', async () => (await visitor.read(theirs)).messages[1])
  assert.equal(seen.text, said)
  check(seen.sources, 'widget')

  const address = seen.sources[0].url as string
  assert.match(address, /^\/source-files\/.*#page=1$/)
  assert.equal(seen.sources[1].url, null, 'a text has no file')
  const file = await fetch(`${service.url}${address}`)
  assert.deepEqual([file.status, file.headers.get('content-type')], [200, 'application/pdf'])
  assert.deepEqual(Buffer.from(await file.arrayBuffer()), Buffer.from(pdf))
  const forged = address.replace(/(?<=^.{60})./, (one) => (one === 'A' ? 'B' : 'A'))
  assert.equal((await fetch(`${service.url}${forged}`)).status, 404)

  // What a forged backup would bring: a row that names a file outside, and a link in the place of a file.
  const { db, filesDir } = service.ctx
  const outside = join(dirname(filesDir), 'outside')
  await writeFile(outside, 'secret')
  const { content: kept } = await db
    .selectFrom('sources')
    .select('content')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const name = async (path: string): Promise<void> => {
    await db
      .updateTable('sources')
      .set({ content: json({ ...kept, file: path }) })
      .where('id', '=', id)
      .execute()
  }
  for (const path of ['../outside', outside, `${kept.file}/../../../../../outside`]) {
    await name(path)
    assert.equal((await fetch(`${service.url}${address}`)).status, 404, path)
  }
  const link = `${dirname(kept.file ?? '')}/link`
  await symlink(outside, join(filesDir, link))
  await name(link)
  assert.equal((await fetch(`${service.url}${address}`)).status, 404, 'a link')
  await name(kept.file ?? '')
  assert.equal((await fetch(`${service.url}${address}`)).status, 200)
  await client.request('DELETE', `/agents/${agentId}/sources/${id}`)
  assert.equal((await fetch(`${service.url}${address}`)).status, 404, 'with its source the file goes')
})

test('a quote keeps links, bold text and code, and its source has the words; other channels obey the rule for links', async () => {
  const own = await publicAgent(client)
  await client.request('PUT', `/agents/${own}`, { model: 'builtin', allowedDomains: ['shop.example'] })
  const link = '[the form for returns](https://shop.example/returns?by=post)'
  const foreign = '[our carrier](https://carrier.example/track)'
  const content = `Goods are returned within **30 days** with ${link}. Write \`RETURN\` on the parcel and give it to ${foreign}.`
  const added = await client.request('POST', `/agents/${own}/sources`, {
    type: 'text',
    name: 'Returns',
    content,
  })
  await trained(service, added.body.id)
  const message = 'How are goods returned?'
  const { body } = await client.request('POST', `/agents/${own}/chat`, { message, stream: false })
  assert.equal(body.data.parts[0].text, `This is what the documents say:\n\n${content} [1]`)
  assert.equal(
    body.data.metadata.sources[0].quote,
    'Goods are returned within 30 days with the form for returns. Write RETURN on the parcel and give it to our carrier.',
  )
  const asked = { chatbotId: own, messages: [{ role: 'user', content: message }] }
  const { text } = (await client.request('POST', '/api/v1/chat', asked)).body
  assert.ok(text.includes(link) && text.includes('our carrier') && !text.includes('https://carrier'), text)
})
