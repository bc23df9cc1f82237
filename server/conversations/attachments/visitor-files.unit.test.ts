import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeZip } from '../../../test/fixtures/make-zip.ts'
import { mediaTypeOf } from './uploads.ts'
import { refusalOf } from './visitor-files.ts'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
)
const CFB = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(1024)])
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'

/** Returns a Word document with this content type, and these parts besides. */
const wordFile = (type: string, ...more: string[]): Buffer => {
  const types = `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="${type}.main+xml"/></Types>`
  const parts = { '[Content_Types].xml': types, 'word/document.xml': '<w:document/>' }
  return Buffer.from(makeZip({ ...parts, ...Object.fromEntries(more.map((name) => [name, 'x'])) }))
}
const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
const DOCM = 'application/vnd.ms-word.document.macroEnabled'

const refusal = async (name: string, content: string | Buffer) => {
  const bytes = Buffer.from(content)
  return refusalOf(name, await mediaTypeOf(bytes), bytes)
}

test('what customers send is accepted', async () => {
  for (const [name, content] of [
    ['lamp.png', PNG],
    ['lamp.PNG', PNG],
    // A picture from the clipboard or a phone.
    ['image', PNG],
    ['lamp.jpg', PNG],
    ['order.pdf', '%PDF-1.7\n'],
    ['v1.2 final.pdf', '%PDF-1.7\n'],
    ['letter.docx', wordFile(DOCX)],
    ['letter.doc', CFB],
    ['mail.msg', CFB],
    ['letter.rtf', '{\\rtf1 Hello}'],
    ['all.zip', Buffer.from(makeZip({ 'a.txt': 'a' }))],
    ['note.txt', 'Broken.'],
    ['orders.csv', 'a,b\n1,2\n'],
    ['state.json', '{"a":1}'],
    ['mail.eml', 'From: a@b.c\r\nSubject: Hello\r\n\r\nHello'],
    ['ann.vcf', 'BEGIN:VCARD\nVERSION:3.0\nFN:Ann\nEND:VCARD\n'],
    [
      'speech.mp3',
      Buffer.concat([Buffer.from('ID3\x03\0\0\0\0\0\0'), Buffer.from('fffb9000', 'hex'), Buffer.alloc(600)]),
    ],
  ] as const)
    assert.equal(await refusal(name, content), null, name)
})

test('the sentence says whether another name would do', async () => {
  assert.match((await refusal('setup.exe', 'text')) ?? '', /^Files of this kind cannot be sent/)
  assert.match((await refusal('README', 'text')) ?? '', /may end with \.txt/)
  assert.match((await refusal('picture.png', SVG)) ?? '', /does not match its name/)
})

test('programs, scripts, web pages and documents with macros are refused with a sentence', async () => {
  for (const [name, content] of [
    ['a.exe', 'text all the same'],
    ['a.exe.', 'text all the same'],
    ['a.exe . .', 'text all the same'],
    ['a.pdf.exe', '%PDF-1.7\n'],
    ['lamp.png.bat', PNG],
    ['a.url', '[InternetShortcut]\nURL=file://evil.example/a\n'],
    ['a.scf', '[Shell]\nCommand=2\nIconFile=\\\\evil.example\\a\n'],
    ['a.iqy', 'WEB\n1\nhttps://evil.example\n'],
    ['a.settingcontent-ms', '<?xml version="1.0"?><PCSettings/>'],
    ['a.command', '#!/bin/sh\ntrue\n'],
    ['a.py', 'print(1)'],
    ['a.xht', '<html xmlns="http://www.w3.org/1999/xhtml"/>'],
    ['a.mht', 'MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n<script>alert(1)</script>'],
    ['a.xml', SVG],
    ['a.xml', `<?xml version="1.0"?>${SVG}`],
    ['picture.svg', SVG],
    ['picture.png', SVG],
    ['picture.png', `<?xml version="1.0"?>${SVG}`],
    ['picture', SVG],
    ['.png', SVG],
    ['README', '#!/bin/sh\ntrue\n'],
    ['invoice.pdf', Buffer.from('4d5a900003000000', 'hex')],
    ['letter.docm', wordFile(DOCM)],
    ['letter.docm', wordFile(DOCX)],
    ['letter.docx', wordFile(DOCM)],
    ['letter.docx', wordFile(DOCX, 'word/vbaProject.bin')],
    ['letter.doc', Buffer.concat([CFB, Buffer.from('_VBA_PROJECT', 'utf16le')])],
    ['setup.msi', CFB],
    ['tool.jar', Buffer.from(makeZip({ 'META-INF/MANIFEST.MF': 'a' }))],
  ] as const)
    assert.match((await refusal(name, content)) ?? 'accepted', /^(?:Files|Documents|The content) .+\.$/, name)
})
