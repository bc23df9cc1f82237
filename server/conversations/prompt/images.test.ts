import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { answersAsked, type ModelHome, startModelHome } from '../../../test/model-home.ts'
import { providers } from '../../ai/catalogue/catalogue.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { keepAttachment } from '../attachments/attachments.ts'
import { appendMessage } from '../records/append-message.ts'
import { readImages } from './prepare.ts'

let home: ModelHome
before(async () => {
  home = await startModelHome()
})
after(() => home.close())

const photo = (width: number) =>
  sharp({ create: { width, height: 800, channels: 3, background: '#c03' } })
    .withExif({ IFD0: { Artist: 'Ada Secret' } })
    .png()
    .toBuffer()

/** Asks about a picture that the customer sent before the message of the request. */
async function ask(agentId: string, bytes: Buffer, mediaType = 'image/png') {
  const { client, service, server } = home
  server.refusals.length = 0
  server.queue.length = 0
  server.queue.push({ tokens: ['Hello.'] })
  const chat = (body: object) => client.request('POST', `/agents/${agentId}/chat`, { stream: false, ...body })
  const { conversationId } = (await chat({ message: 'Hello' })).body.data.metadata
  const { db, filesDir } = service.ctx
  const ref = { accountId: client.accountId as never, agentId }
  await transact(db, async (trx) => {
    const note = await keepAttachment(
      filesDir,
      trx,
      ref,
      { name: 'lamp.png', mediaType, bytes },
      { conversationId },
    )
    const place = { id: conversationId, account_id: ref.accountId, agent_id: agentId }
    const parts = [{ type: 'text' as const, text: 'Look\n[lamp.png]' }]
    await appendMessage(trx, place, { role: 'user', parts, metadata: { attachments: [note] } })
  })
  server.queue.push({ tokens: ['A lamp.'] })
  const answer = await chat({ message: 'What is it?', conversationId })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  assert.deepEqual(server.refusals, [])
  const said: string = answer.body.data.parts.map(({ text = '' }) => text).join('')
  return { conversationId, chat, said, sent: JSON.stringify(answersAsked(server).at(-1)!.body) }
}

for (const provider of providers)
  test(`${provider}: a picture is sent small and without metadata, and once`, async () => {
    const agentId = await home.agentOf(provider)
    const { sent, chat, conversationId } = await ask(agentId, await photo(3_000))
    const jpeg = Buffer.from(/\/9j\/[\w+/=]+/.exec(sent)?.[0] ?? '', 'base64')
    const { format, width, exif } = await sharp(jpeg).metadata()
    assert.deepEqual([format, width, exif], ['jpeg', 1_568, undefined])
    home.server.queue.push({ tokens: ['Bye.'] })
    await chat({ message: 'Thanks', conversationId })
    const next = JSON.stringify(answersAsked(home.server).at(-1)!.body)
    assert.doesNotMatch(next, /\/9j\//)
    assert.match(next, /\[lamp\.png\]/)
  })

test('a picture that cannot be read is told, and drawings are not drawn', async () => {
  const agentId = await home.agentOf('openai')
  for (const bytes of [Buffer.from('no picture'), Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')]) {
    const { sent } = await ask(agentId, bytes)
    assert.doesNotMatch(sent, /\/9j\//)
    assert.match(sent, /has a picture that you cannot see\. The customer is told so/)
  }
})

test('the customer of a model that sees is told why a picture of a telephone was not seen', async () => {
  const agentId = await home.agentOf('openai')
  // The beginning of a HEIC file, whose codec is not free.
  const heic = Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from('ftypheic\0\0\0\0heicmif1')])
  const { sent, said } = await ask(agentId, heic, 'image/heic')
  assert.doesNotMatch(sent, /\/9j\//)
  assert.match(said, /I could not open every picture\. Up to four at a time work, as JPEG or PNG\.$/)
})

test('without sight, the team gets the picture', async () => {
  const agentId = await home.agentOf('openai')
  const { client } = home
  const action = { type: 'escalate', name: 'hand_over', description: 'Passes it on' }
  assert.equal((await client.request('POST', `/agents/${agentId}/actions`, action)).status, 201)
  const { sent } = await ask(agentId, Buffer.from('no picture'))
  assert.match(sent, /Pass the conversation to the team with hand_over/)
  assert.match(sent, /"tool_choice":\{"type":"function","function":\{"name":"hand_over"\}\}/)
})

test('pictures of several conversations are decoded one after the other', async () => {
  const { client, service } = home
  const { db, filesDir } = service.ctx
  const ref = { accountId: client.accountId as never, agentId: await home.agentOf('openai-compatible') }
  const bytes = await photo(3_000)
  const note = await transact(db, (trx) =>
    keepAttachment(filesDir, trx, ref, { name: 'lamp.png', mediaType: 'image/png', bytes }),
  )
  const seen: number[] = []
  // Not their sum: a picture that begins while the two are read would count as two.
  const sample = setInterval(() => {
    const { queue, process } = sharp.counters()
    seen.push(Math.max(queue, process))
  }, 1)
  const { signal } = new AbortController()
  const read = await Promise.all(
    Array.from({ length: 6 }, () => readImages(service.ctx, ref, [note], signal)),
  ).finally(() => clearInterval(sample))
  assert.ok(read.every(({ seen: images }) => images.length === 1))
  assert.ok(Math.max(...seen) <= 1, `${seen}`)
})
