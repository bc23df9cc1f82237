import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { openPdf, placesOfPictures, work } from './ocr-work.ts'
import { drawImages, imagesOf, type Operators, placesOf } from './picture-of-page.ts'
import { pngOf } from './png.ts'

const bytes = readFileSync(new URL('./fixtures/scan.pdf', import.meta.url))

test('pages that are pictures are told from pages with text', async () => {
  const pieces: unknown[] = []
  for await (const piece of work({ bytes, folder: '/none', languages: [], page: null })) pieces.push(piece)
  assert.deepEqual(pieces, [{ pictures: [1, 2] }])
})

test('a page is drawn upright, however its picture lies in it', async () => {
  const { pdf, operators, close } = await openPdf(bytes)
  const draw = async (number: number, names: Operators) => {
    const page = await pdf.getPage(number)
    return drawImages(page, await imagesOf(page, await placesOf(page, names)))
  }
  const [upright, turned] = [await draw(1, operators), await draw(2, operators)]
  await close()
  assert.deepEqual([turned.width, turned.height], [upright.width, upright.height])
  const dark = upright.pixels.filter((shade) => shade === 0).length
  const unlike = upright.pixels.filter((shade, at) => shade !== turned.pixels[at]).length
  assert.ok(dark > 5_000 && unlike < dark / 10, `${unlike} of ${dark}`)
  assert.equal(pngOf(upright).toString('latin1', 1, 4), 'PNG')
})

test('the pictures of a TIFF file are found one after the other, and a chain without an end ends', async () => {
  const tiff = (...next: number[]): Buffer => {
    const file = Buffer.alloc(8 + next.length * 6)
    file.write('MM\0*', 'latin1')
    file.writeUInt32BE(8, 4)
    for (const [at, place] of next.entries()) file.writeUInt32BE(place, 8 + at * 6 + 2)
    return file
  }
  assert.deepEqual(placesOfPictures(tiff(14, 0)), [8, 14])
  assert.deepEqual(placesOfPictures(bytes), [0])
  assert.equal(placesOfPictures(tiff(8)).length, 1_000)
  const pieces: unknown[] = []
  for await (const piece of work({ bytes: tiff(14, 0), folder: '/none', languages: [], page: null }))
    pieces.push(piece)
  assert.deepEqual(pieces, [{ pictures: [1, 2] }])
})
