import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { makeDocx } from '../../../test/fixtures/make-docx.ts'
import { makeFactPdf } from '../../../test/fixtures/make-pdf.ts'
import { makePptx } from '../../../test/fixtures/make-pptx.ts'
import { makeZip } from '../../../test/fixtures/make-zip.ts'
import type { DocumentType } from './extracted-document.ts'
import { sniffType } from './sniff-type.ts'

const fixture = (name: string) => readFileSync(new URL(`../../../test/fixtures/${name}`, import.meta.url))
const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex')
const pdf = makeFactPdf(1)
const docx = makeDocx([{ paragraph: 'Text' }])
const pptx = makePptx([{ title: 'Text' }])
const ole = Buffer.concat([
  Buffer.from('d0cf11e0a1b11ae1', 'hex'),
  Buffer.alloc(600),
  Buffer.from('WordDocument', 'utf16le'),
])
const page = Buffer.from('<!DOCTYPE html><html><body>Sign in</body></html>')

test('a file has the type of its extension if its content matches', () => {
  const accepted: [Uint8Array, string, DocumentType][] = [
    [pdf, 'Manual.PDF', 'pdf'],
    [Buffer.concat([Buffer.from('\n\n'), pdf]), 'a.pdf', 'pdf'],
    [docx, 'a.docx', 'docx'],
    [ole, 'a.doc', 'doc'],
    [pptx, 'a.pptx', 'pptx'],
    [makeZip({ 'xl/workbook.xml': '' }), 'a.XLSX', 'xlsx'],
    [fixture('article.html'), 'a.htm', 'html'],
    [fixture('prices.csv'), 'a.csv', 'csv'],
    [fixture('handbook.md'), 'a.markdown', 'md'],
    [fixture('windows-1252.txt'), 'a.b.txt', 'txt'],
    [Buffer.from('\ufeffName,Preis', 'utf16le'), 'a.csv', 'csv'],
    [Buffer.from('BMW baut Autos.'), 'a.txt', 'txt'],
    [page, 'a.txt', 'txt'],
    [Buffer.from('一,二'), 'a.csv', 'csv'],
    [png, 'a.PNG', 'image'],
    [Buffer.from('II*\0\x08\0\0\0', 'latin1'), 'fax.tiff', 'image'],
    [Buffer.from('RIFF\x01\x02\x03\x04WEBPVP8 ', 'latin1'), 'a.webp', 'image'],
  ]
  for (const [bytes, name, type] of accepted) assert.equal(sniffType(bytes, name), type, name)
})

test('a file whose content does not match, or of an unknown type, is rejected', () => {
  const refused: [Uint8Array, string][] = [
    [png, 'a.pdf'],
    [png, 'a.webp.txt'],
    [pdf, 'a.png'],
    [png, 'a.csv'],
    [png, 'a.txt'],
    [docx, 'a.pdf'],
    [docx, 'a.doc'],
    [docx, 'a.txt'],
    [pdf, 'a.docx'],
    [docx, 'a.xlsx'],
    [pptx, 'a.docx'],
    [ole, 'a.xlsx'],
    [pdf, 'a.txt'],
    [ole, 'a.docx'],
    [makeZip({ 'a.txt': 'x' }), 'a.docx'],
    [Buffer.from('{\\rtf1 text}'), 'a.txt'],
    [page, 'a.csv'],
    [page, 'a.pdf'],
    [page, 'a.exe'],
    [page, 'html'],
    [Buffer.alloc(0), 'a.txt'],
    [Buffer.from('abc\0def'), 'a.md'],
  ]
  for (const [bytes, name] of refused) assert.equal(sniffType(bytes, name), null, name)
})
