import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import sharp from 'sharp'
import { type Client, type Service, startService } from '../../../test/start.ts'

let service: Service
let client: Client
let chatbotId: string

before(async () => {
  service = await startService()
})
beforeEach(async () => {
  client = await service.account()
  chatbotId = (await client.request('POST', '/api/v1/create-chatbot', { chatbotName: 'Bot' })).body.chatbotId
})
after(() => service.close())

const drawn = (width = 300, height = width) =>
  sharp({ create: { width, height, channels: 3, background: '#c03' } })
const png = (): Promise<Buffer> => drawn().png().toBuffer()

type Picture = Buffer | string

async function upload(
  picture: Picture | null,
  { path = '/upload-chatbot-icon', field = 'chatbotIconFile', id = chatbotId, by = client } = {},
): Promise<{ status: number; body: unknown }> {
  const form = new FormData()
  // The type and the name that the browser reports are not trusted.
  if (picture !== null)
    form.append(field, new File([Buffer.from(picture)], 'icon.png', { type: 'image/png' }))
  form.append('chatbotId', id)
  const response = await fetch(`${service.url}/api/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${by.key}` },
    body: form,
  })
  return { status: response.status, body: await response.json() }
}

const served = (name = 'icon', headers = {}): Promise<Response> =>
  fetch(`${service.url}/pictures/${chatbotId}/${name}`, { headers })

async function refused(picture: Picture | null, options = {}): Promise<void> {
  const answer = await upload(picture, options)
  assert.deepEqual([answer.status, answer.body], [400, { message: 'Invalid request data' }])
}

for (const [format, make] of [
  ['png', png],
  ['jpeg', () => drawn().jpeg({ progressive: true }).toBuffer()],
  ['webp', () => drawn().webp().toBuffer()],
  ['gif', () => drawn().gif().toBuffer()],
] as const) {
  test(`a ${format} is accepted, re-encoded, and served as an image to anybody`, async () => {
    const sent = await make()
    const { status, body } = await upload(sent)
    assert.deepEqual([status, Object.keys(body as object)], [200, ['message']])
    const response = await served()
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'image/png')
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
    assert.match(response.headers.get('cache-control') ?? '', /^public, max-age=\d+/)
    assert.equal(response.headers.get('cross-origin-resource-policy'), 'cross-origin')
    const bytes = Buffer.from(await response.arrayBuffer())
    assert.notDeepEqual(bytes, sent)
    const { format: kept, width, height } = await sharp(bytes).metadata()
    assert.deepEqual([kept, width, height], ['png', 256, 256])
  })
}

test('caches can revalidate cheaply, and see a change at the same URL', async () => {
  await upload(await png())
  const etag = (await served()).headers.get('etag') ?? ''
  const same = await served('icon', { 'if-none-match': etag })
  assert.deepEqual([same.status, await same.text()], [304, ''])
  await upload(await drawn(64).negate().png().toBuffer())
  const changed = await served('icon', { 'if-none-match': etag })
  assert.equal(changed.status, 200)
  const { width } = await sharp(Buffer.from(await changed.arrayBuffer())).metadata()
  assert.equal(width, 64)
})

test('icon and profile picture are separate, and can be deleted repeatedly', async () => {
  const profile = { path: '/upload-chatbot-profile-picture', field: 'profilePictureFile' }
  await upload(await png())
  assert.equal((await upload(await png(), profile)).status, 200)
  const remove = (what: string) =>
    client.request('DELETE', `/api/v1/delete-chatbot-${what}?chatbotId=${chatbotId}`)
  assert.deepEqual(Object.keys((await remove('icon')).body), ['message'])
  assert.deepEqual([(await served()).status, (await served('profile-picture')).status], [404, 200])
  for (const what of ['icon', 'profile-picture']) assert.equal((await remove(what)).status, 200)
  assert.equal((await served('profile-picture')).status, 404)
})

test('metadata of an upload is not served', async () => {
  const picture = await drawn()
    .withExif({ IFD0: { Copyright: 'Ann, 12 Main Street' } })
    .jpeg()
    .toBuffer()
  assert.ok(picture.includes('Main Street'))
  assert.equal((await upload(picture)).status, 200)
  assert.ok(!Buffer.from(await (await served()).arrayBuffer()).includes('Main Street'))
})

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>'
const HTML = '<!DOCTYPE html><script>alert(1)</script>'
// The smallest archive: only the directory, without files.
const ZIP = Buffer.concat([Buffer.from('PK\x05\x06', 'latin1'), Buffer.alloc(18)])

/** Returns a PNG with an additional chunk before its end. */
async function withChunk(text: string): Promise<Buffer> {
  const whole = await png()
  const length = Buffer.alloc(4)
  length.writeUInt32BE(text.length)
  const chunk = Buffer.concat([length, Buffer.from('tEXt'), Buffer.from(text, 'latin1'), Buffer.alloc(4)])
  return Buffer.concat([whole.subarray(0, -12), chunk, whole.subarray(-12)])
}

test('files that are not images are rejected, whatever their name', async () => {
  for (const file of [
    SVG,
    `<?xml version="1.0"?>\n${SVG}`,
    HTML,
    '%PDF-1.7',
    ZIP,
    '',
    'GIF89a',
    Buffer.alloc(99),
  ])
    await refused(file)
  await refused(await drawn().tiff().toBuffer())
  await refused(await drawn(16).avif().toBuffer())
})

test('polyglot files are rejected', async () => {
  const pictures = [png(), drawn().jpeg().toBuffer(), drawn().webp().toBuffer(), drawn().gif().toBuffer()]
  for (const picture of await Promise.all(pictures)) {
    for (const rider of [HTML, SVG, ZIP, 'x'.repeat(30)]) {
      await refused(Buffer.concat([picture, Buffer.from(rider)]))
    }
    // Some programs pad files with zeros.
    assert.equal((await upload(Buffer.concat([picture, Buffer.alloc(9)]))).status, 200)
  }
  for (const text of [
    `Comment\0${HTML}`,
    `Comment\0${SVG}`,
    'Comment\0%PDF-1.4',
    `Comment\0${ZIP.toString('latin1')}`,
  ])
    await refused(await withChunk(text))
  // These files are also valid beginnings of scripts: a size that reads "/*" by "/*", and a JPEG whose first segment is
  // a comment.
  const gif = await drawn().gif().toBuffer()
  await refused(Buffer.concat([Buffer.from('GIF89a/*/*'), gif.subarray(10)]))
  const jpeg = await drawn().jpeg().toBuffer()
  await refused(Buffer.concat([jpeg.subarray(0, 4), Buffer.from('/*'), jpeg.subarray(6)]))
})

test('a truncated image is rejected or still an image, and never causes an error', async () => {
  for (const picture of await Promise.all([
    png(),
    drawn(40).jpeg().toBuffer(),
    drawn(40).webp().toBuffer(),
  ])) {
    for (let length = 1; length < picture.length; length += Math.ceil(picture.length / 20)) {
      await refused(picture.subarray(0, length))
    }
  }
})

test('images that are not square, or too large, are rejected', async () => {
  await refused(await drawn(300, 299).png().toBuffer())
  await refused(await drawn(4_100).png().toBuffer())
  assert.equal((await upload(await drawn(1).png().toBuffer())).status, 200)
})

test('more than 1 MB is 413, and an invalid form is rejected', async () => {
  const large = await upload(Buffer.concat([await png(), Buffer.alloc(1_048_577)]))
  assert.deepEqual([large.status, Object.keys(large.body as object)], [413, ['message']])
  await refused(null)
  await refused(await png(), { field: 'file' })
  await refused(await png(), { id: '' })
  const cut = await fetch(`${service.url}/api/v1/upload-chatbot-icon`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${client.key}`,
      'content-type': 'multipart/form-data; boundary=b',
    },
    body: '--b\r\ncontent-disposition: form-data; name="chatbotId"\r\n\r\nx',
  })
  assert.deepEqual([cut.status, await cut.json()], [400, { message: 'Invalid request data' }])
})

test('pictures of another account cannot be set or removed', async () => {
  const other = await service.account()
  await upload(await png())
  const foreign = await upload(await png(), { by: other })
  assert.deepEqual([foreign.status, foreign.body], [404, { message: 'Resource not found' }])
  const path = `/api/v1/delete-chatbot-icon?chatbotId=${chatbotId}`
  assert.equal((await other.request('DELETE', path)).status, 404)
  assert.equal((await served()).status, 200)
})

test('a copy of the chatbot has its pictures, and a deleted one has none', async () => {
  await upload(await png())
  const { id } = (await client.request('POST', `/agents/${chatbotId}/clone`)).body
  const ofCopy = () => fetch(`${service.url}/pictures/${id}/icon`)
  assert.equal((await ofCopy()).status, 200)
  await client.request('DELETE', `/api/v1/delete-chatbot?chatbotId=${id}`)
  assert.equal((await ofCopy()).status, 404)
})
