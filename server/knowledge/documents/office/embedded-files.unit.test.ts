import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CFB, utils, write } from '@e965/xlsx'
import { docxOf, word } from '../../../../test/fixtures/hostile-documents.ts'
import { makeZip } from '../../../../test/fixtures/make-zip.ts'
import { extractDocument } from '../extract-document.ts'

const paragraph = (text: string) => `<w:p><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`
const object = (id: string) =>
  `<w:p><w:r><w:object><o:OLEObject xmlns:o="o" r:id="${id}"/></w:object></w:r></w:p>`
const relations = (targets: Record<string, string>) =>
  `<Relationships>${Object.entries(targets).map(([id, to]) => `<Relationship Id="${id}" Type="x/package" Target="${to}"/>`)}</Relationships>`

/** Returns a Word file with a text and these files embedded. */
const hostOf = (text: string, files: Record<string, Uint8Array>) => {
  const names = Object.keys(files)
  const parts = names.map((name) => [`word/embeddings/${name}`, files[name]!])
  const rels = Object.fromEntries(names.map((name, at) => [`r${at}`, `embeddings/${name}`]))
  return docxOf(word(paragraph(text) + names.map((_, at) => object(`r${at}`)).join('')), {
    'word/_rels/document.xml.rels': relations(rels),
    ...Object.fromEntries(parts),
  })
}
const book = (bookType: 'xlsx' | 'biff8') => {
  const made = utils.book_new()
  utils.book_append_sheet(
    made,
    utils.aoa_to_sheet([
      ['Lamp', 'Price'],
      ['Desk', 30],
      ['Wall', 20],
    ]),
    'Prices',
  )
  return new Uint8Array(write(made, { type: 'buffer', bookType }))
}
const oleOf = (stream: string, content: Uint8Array) => {
  const made = CFB.utils.cfb_new()
  CFB.utils.cfb_add(made, `/${stream}`, Buffer.from(content))
  return new Uint8Array(CFB.write(made, { type: 'buffer' }))
}
const native = (name: string, content: string) => {
  const size = (length: number) => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32LE(length)
    return bytes
  }
  const path = Buffer.from(`C:\\${name}\0`)
  const head = [size(0), Buffer.from([2, 0]), Buffer.from(`${name}\0`), path, Buffer.from([0, 0, 3, 0])]
  return Buffer.concat([...head, size(path.length), path, size(content.length), Buffer.from(content)])
}
const outline = async (bytes: Uint8Array, type: 'docx' | 'pptx' | 'xlsx' = 'docx') => {
  const { sections, gaps } = await extractDocument({ type, bytes })
  return { sections: sections.map(({ headingPath, text }) => [headingPath.join(' > '), text]), gaps }
}

test('files embedded in a Word file are read by their types, however they are packed', async () => {
  const prices = 'Lamp: Desk; Price: 30\nLamp: Wall; Price: 20'
  for (const [name, bytes, under] of [
    ['a.xlsx', book('xlsx'), 'a.xlsx > Prices'],
    ['b.xls', book('biff8'), 'b.xls > Prices'],
    ['c.bin', oleOf('Package', book('xlsx')), 'c.bin > Prices'],
  ] as const)
    assert.deepEqual(await outline(hostOf('Our lamps.', { [name]: bytes })), {
      sections: [
        ['', 'Our lamps.'],
        [under, prices],
      ],
      gaps: [],
    })
  const note = oleOf('\u0001Ole10Native', native('note.txt', 'Call us before noon.'))
  assert.deepEqual((await outline(hostOf('', { 'd.bin': note }))).sections, [
    ['note.txt', 'Call us before noon.'],
  ])
})

test('a Word file within a Word file within a presentation is read on its slide', async () => {
  const inner = hostOf('Outer words.', { 'deep.docx': docxOf(word(paragraph('Deep words.'))) })
  const slide = (words: string, more = '') =>
    `<p:sld xmlns:p="p" xmlns:a="a" xmlns:r="r"><p:sp><p:ph type="title"/><a:p><a:r><a:t>${words}</a:t></a:r></a:p></p:sp>${more}</p:sld>`
  const bytes = makeZip({
    'ppt/presentation.xml':
      '<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst><p:sldId r:id="a"/><p:sldId r:id="b"/></p:sldIdLst></p:presentation>',
    'ppt/_rels/presentation.xml.rels': relations({ a: 'slides/a.xml', b: 'slides/b.xml' }),
    'ppt/slides/a.xml': slide('First', '<p:graphicFrame><p:oleObj r:id="e"/></p:graphicFrame>'),
    'ppt/slides/_rels/a.xml.rels': relations({ e: '../embeddings/x.docx' }),
    'ppt/slides/b.xml': slide('Second'),
    'ppt/embeddings/x.docx': inner,
  })
  const { sections, gaps } = await extractDocument({ type: 'pptx', bytes })
  assert.deepEqual(
    sections.map(({ page, headingPath, text }) => [page, headingPath.join(' > '), text]),
    [
      [1, 'First', 'First'],
      [1, 'First > x.docx', 'Outer words.'],
      [1, 'First > x.docx > deep.docx', 'Deep words.'],
      [2, 'Second', 'Second'],
    ],
  )
  assert.deepEqual(gaps, [])
})

test('only embedded files that may have a text are named, and a file within itself ends', async () => {
  const none = { 'a.png': Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), 'b.bin': new Uint8Array() }
  assert.deepEqual((await outline(hostOf('Text.', none))).gaps, [])
  const unread = {
    'a.bin': oleOf('PowerPoint Document', Buffer.from('words')),
    'b.docx': Buffer.from('PK\x03\x04'),
  }
  assert.deepEqual((await outline(hostOf('Text.', unread))).gaps, [
    { kind: 'objects', place: null, count: 2 },
  ])
  let nested = docxOf(word(paragraph('Deepest.')))
  for (let at = 0; at < 6; at += 1) nested = hostOf(`Level ${at}.`, { 'in.docx': nested })
  const { sections, gaps } = await outline(nested)
  assert.deepEqual([sections.length, gaps?.map(({ kind, count }) => [kind, count])], [4, [['objects', 1]]])
})

test('a container of OLE whose tree of entries never ends is named, and the rest of the file is read', async () => {
  const container = Buffer.from(oleOf('Package', Buffer.alloc(9_000, 'A')))
  const directory = (container.readUInt32LE(48) + 1) * 512
  // The entry before the third one is the second, and the entry before that the third.
  container.writeInt32LE(2, directory + 128 + 68)
  container.writeInt32LE(1, directory + 2 * 128 + 68)
  assert.deepEqual(await outline(hostOf('Text.', { 'a.bin': container })), {
    sections: [['', 'Text.']],
    gaps: [{ kind: 'objects', place: null, count: 1 }],
  })
})
