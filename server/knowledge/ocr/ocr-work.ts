import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import type { PdfFile } from 'pdfjs-dist/legacy/build/pdf.mjs'
import { dataFolder } from './ocr-folder.ts'
import { coveredShare, drawImages, imagesOf, type Operators, placesOf } from './picture-of-page.ts'
import { pngOf } from './png.ts'

/** Without a page: which pages are pictures. With one: its text. */
export type OcrOrder = { bytes: Uint8Array; folder: string; languages: string[]; page: number | null }
export type OcrPiece = { pictures: number[] } | { text: string }

/** A page with more letters is read by them: a scanner may add a stamp or a number. */
const MAX_LETTERS = 20
const MIN_COVERED = 0.5

/** Runs in a child process; see createOcr. */
export async function* work({ bytes, folder, languages, page }: OcrOrder): AsyncGenerator<OcrPiece> {
  if (!isPdf(bytes)) {
    const file = Buffer.from(bytes)
    const places = placesOfPictures(file)
    yield page === null
      ? { pictures: places.map((_, at) => at + 1) }
      : { text: await recognised(folder, languages, beginningAt(file, places[page - 1] ?? 0)) }
    return
  }
  const { pdf, operators, close } = await openPdf(bytes)
  try {
    if (page === null) yield { pictures: await pictureNumbers(pdf, operators) }
    else {
      const opened = await pdf.getPage(page)
      const picture = pngOf(drawImages(opened, await imagesOf(opened, await placesOf(opened, operators))))
      yield { text: await recognised(folder, languages, picture) }
    }
  } finally {
    await close()
  }
}

/** Other files are pictures. */
const isPdf = (bytes: Uint8Array): boolean => Buffer.from(bytes.subarray(0, 1_024)).includes('%PDF-')

const MAX_PICTURES = 1_000
const TIFF = /^(?:II\*\0|MM\0\*)/

/** Returns where the pictures of a file are: a TIFF has the place of the first, which has that of the next. */
export function placesOfPictures(file: Buffer): number[] {
  if (!TIFF.test(file.toString('latin1', 0, 4))) return [0]
  const isLittle = file[0] === 0x49
  const short = (at: number): number => (isLittle ? file.readUInt16LE(at) : file.readUInt16BE(at))
  const long = (at: number): number => (isLittle ? file.readUInt32LE(at) : file.readUInt32BE(at))
  const places: number[] = []
  for (let at = long(4); at > 0 && at + 2 <= file.length && places.length < MAX_PICTURES; ) {
    places.push(at)
    const next = at + 2 + short(at) * 12
    at = next + 4 <= file.length ? long(next) : 0
  }
  return places
}

/** Returns a file whose first picture is the one at a place. */
function beginningAt(file: Buffer, place: number): Buffer {
  if (place === 0) return file
  const picture = Buffer.from(file)
  if (file[0] === 0x49) picture.writeUInt32LE(place, 4)
  else picture.writeUInt32BE(place, 4)
  return picture
}

/** Opens a PDF for its pictures. */
export async function openPdf(
  bytes: Uint8Array,
): Promise<{ pdf: PdfFile; operators: Operators; close(): Promise<void> }> {
  Object.assign(globalThis, { DOMMatrix: class {} })
  const { getDocument, OPS } = await import('pdfjs-dist/legacy/build/pdf.mjs')
  const library = fileURLToPath(new URL('.', import.meta.resolve('pdfjs-dist/package.json')))
  const task = getDocument({
    data: new Uint8Array(bytes),
    cMapUrl: `${library}cmaps/`,
    standardFontDataUrl: `${library}standard_fonts/`,
    wasmUrl: `${library}wasm/`,
    isOffscreenCanvasSupported: false,
    isImageDecoderSupported: false,
    useSystemFonts: false,
    verbosity: 0,
  })
  return { pdf: await task.promise, operators: OPS, close: () => task.destroy() }
}

async function pictureNumbers(pdf: PdfFile, operators: Operators): Promise<number[]> {
  const pictures: number[] = []
  for (let number = 1; number <= pdf.numPages; number += 1) {
    const page = await pdf.getPage(number)
    const { items } = await page.getTextContent()
    const text = items.map((item) => ('str' in item ? String(item.str) : '')).join('')
    const letters = text.match(/[\p{L}\p{N}]/gu)?.length ?? 0
    if (letters <= MAX_LETTERS && coveredShare(page, await placesOf(page, operators)) >= MIN_COVERED)
      pictures.push(number)
    page.cleanup()
  }
  return pictures
}

type Message = { status: string; data: unknown }
type Script = {
  setAdapter(adapter: object): void
  dispatchHandlers(packet: object, send: (message: Message) => void): void
}
type Call = (action: string, payload: object) => Promise<unknown>

let ready: Promise<Call> | null = null

async function recognised(folder: string, languages: string[], image: Buffer): Promise<string> {
  ready ??= start(folder, languages)
  const call = await ready
  const found = await call('recognize', { image, options: {}, output: { text: true } })
  return typeof found === 'object' && found !== null && 'text' in found ? String(found.text) : ''
}

/** The package's own workers are threads, which the permissions of this process do not bind; its script runs here instead. */
async function start(folder: string, languages: string[]): Promise<Call> {
  const require = createRequire(join(folder, 'package.json'))
  const script: Script = require('tesseract.js/src/worker-script/index.js')
  script.setAdapter({
    getCore: require('tesseract.js/src/worker-script/node/getCore.js'),
    gunzip: gunzipSync,
    readCache: async (path: string) => readFileSync(path),
  })
  const call: Call = (action, payload) =>
    new Promise((resolve, reject) => {
      script.dispatchHandlers({ workerId: 'own', jobId: action, action, payload }, ({ status, data }) => {
        if (status === 'resolve') resolve(data)
        else if (status === 'reject') reject(new Error(String(data)))
      })
    })
  const options = { langPath: dataFolder(folder), cacheMethod: 'none', gzip: true, lstmOnly: true }
  await call('load', { options })
  await call('loadLanguage', { langs: languages, options })
  await call('initialize', { langs: languages, oem: 1 })
  return call
}
