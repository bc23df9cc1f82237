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
    yield page === null
      ? { pictures: [1] }
      : { text: await recognised(folder, languages, Buffer.from(bytes)) }
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
