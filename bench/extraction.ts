import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type {
  DocumentType,
  ExtractedDocument,
  Section,
} from '../server/knowledge/documents/extracted-document.ts'
import { createExtractor } from '../server/knowledge/documents/extractor.ts'
import { isWarned as isMissing } from '../server/knowledge/documents/gaps.ts'
import { sniffType, typeOfName } from '../server/knowledge/documents/sniff-type.ts'
import { visibleText } from '../server/platform/text/words/words.ts'

/** `found` is the share of the reference's words that are in the passages, `right` that of their words in the reference. */
type Reading = {
  file: string
  type: DocumentType
  ms: number
  found?: number
  right?: number
  failure?: string
  /** What the reader itself names as missing. */
  warnings: string[]
}

/**
 * Measures what is read of the documents of a folder: `node bench/extraction.ts FOLDER [--save FILE] [--against FILE]
 * [--type TYPE …]`. Beside each document, `NAME.reference.txt` holds its text as another program reads it (see
 * bench/extraction-reference.py), with which the words are compared; `NAME.whole.txt`, if it is there, holds all that is
 * right. `--against` names the file that an earlier run
 * saved, and lists the documents of which fewer words are found than then.
 */
async function measure(folder: string, types: readonly string[]): Promise<Reading[]> {
  const extractor = createExtractor({ timeoutMs: 60_000 })
  const readings: Reading[] = []
  try {
    for (const file of globSync('**/*', { cwd: folder }).toSorted()) {
      const path = join(folder, file)
      const wanted = typeOfName(file)
      if (!wanted || !existsSync(`${path}.reference.txt`) || (types.length > 0 && !types.includes(wanted)))
        continue
      const bytes = readFileSync(path)
      const type = sniffType(bytes, file)
      if (!type) continue
      const reference = readFileSync(`${path}.reference.txt`, 'utf8')
      if (wordsOf(reference).size === 0) continue
      const whole = existsSync(`${path}.whole.txt`) ? readFileSync(`${path}.whole.txt`, 'utf8') : ''
      const begun = performance.now()
      const read = await extractor.extract({ bytes, type, filename: file }, { owner: 'bench' }).then(
        ({ sections, gaps }) => ({ ...shares(textOf(sections), reference, whole), warnings: namesOf(gaps) }),
        ({ code }) => ({ failure: String(code), warnings: [] }),
      )
      readings.push({ file, type, ms: Math.round(performance.now() - begun), ...read })
    }
  } finally {
    await extractor.close()
  }
  return readings
}

const namesOf = (gaps: ExtractedDocument['gaps'] = []): string[] =>
  gaps
    .filter(isMissing)
    .map(({ kind, place, count }) => `${count} ${kind}${place === null ? '' : `, ${place}`}`)

/** Returns what is searched: the text of the sections and each heading once. */
function textOf(sections: readonly Section[]): string {
  let open: readonly string[] = []
  return sections
    .flatMap(({ headingPath, text }) => {
      const added = headingPath.filter((heading, at) => open[at] !== heading)
      open = headingPath
      return [...added, visibleText(text)]
    })
    .join('\n')
}

/** Words, or single characters where words are not separated by spaces. */
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}\p{M}]+/gu
const MARKS = /[\u064b-\u0652\u0591-\u05c7]/gu

function wordsOf(text: string): Map<string, number> {
  const words = new Map<string, number>()
  const plain = text.normalize('NFKC').replace(MARKS, '').toLowerCase()
  for (const [word] of plain.matchAll(WORD)) words.set(word, (words.get(word) ?? 0) + 1)
  return words
}

const sizeOf = (words: ReadonlyMap<string, number>): number =>
  [...words.values()].reduce((sum, count) => sum + count, 0)

/**
 * Counts each word as often as both have it. A table repeats the names of its columns in each row, so a word that the
 * reference or the whole file has is right however often it is there. So are numbers and single letters: no reader has the
 * labels of lists, nor numbers and dates as they are shown.
 */
function shares(text: string, reference: string, whole: string): Pick<Reading, 'found' | 'right'> {
  const [read, expected] = [wordsOf(text), wordsOf(reference)]
  let found = 0
  for (const [word, count] of expected) found += Math.min(count, read.get(word) ?? 0)
  const all = wordsOf(`${reference}\n${whole}`)
  let right = 0
  for (const [word, count] of read) right += all.has(word) || !/\p{L}{2}/u.test(word) ? count : 0
  return { found: found / sizeOf(expected), right: right / Math.max(sizeOf(read), 1) }
}

/** What wrote the reference texts of each type; see bench/extraction-reference.py. */
const READERS: Partial<Record<DocumentType, string>> = {
  pdf: 'pdfium',
  docx: "lxml, the text elements of the file's parts",
  pptx: "lxml, the text elements of the file's parts",
  xlsx: 'openpyxl, cells without a format of their own',
  html: 'found: the agreed text, else trafilatura; right: lxml, the whole page',
}
/** A file of which less is found or right should carry a warning. */
const WHOLE = 0.97
const WORST = 10

/** Returns the median and the 10th percentile. */
function spreadOf(numbers: readonly number[]): string {
  const sorted = numbers.toSorted((a, b) => a - b)
  const at = (share: number): string => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(3)
  return `${at(0.5)} | ${at(0.1)}`
}

const isBelow = ({ found = 0, right = 0 }: Reading): boolean => Math.min(found, right) < WHOLE
const isWarned = ({ warnings }: Reading): boolean => warnings.length > 0
const percent = (part: number, all: number): string => `${((100 * part) / Math.max(all, 1)).toFixed(1)} %`

function report(readings: readonly Reading[]): void {
  console.log(
    '| format | reader | files | read | found: median | worst tenth | right: median | worst tenth | below .97 | of them warned | other files warned |',
  )
  console.log('| - | - | - | - | - | - | - | - | - | - | - |')
  for (const [type, all] of Map.groupBy(readings, ({ type }) => type)) {
    const read = all.filter(({ failure }) => failure === undefined)
    const [below, whole] = [read.filter(isBelow), read.filter((one) => !isBelow(one))]
    console.log(
      `| ${type} | ${READERS[type] ?? 'the reference beside it'} | ${all.length} | ${read.length} | ` +
        `${spreadOf(all.map(({ found = 0 }) => found))} | ${spreadOf(read.map(({ right = 0 }) => right))} | ${below.length} | ` +
        `${below.filter(isWarned).length} | ${whole.filter(isWarned).length} |`,
    )
  }
  const read = readings.filter(({ failure }) => failure === undefined)
  const whole = read.filter((one) => !isBelow(one))
  console.log(
    `\nWarned: ${percent(read.filter(isWarned).length, read.length)} of all files that were read, ` +
      `${percent(whole.filter(isWarned).length, whole.length)} of the complete ones.`,
  )
  const worst = readings.toSorted((a, b) => leastOf(a) - leastOf(b)).slice(0, WORST)
  console.log(`\nThe worst ${worst.length}:\n`)
  for (const { file, failure, found = 0, right = 0, warnings } of worst) {
    const shares = failure ?? `found ${found.toFixed(3)}, right ${right.toFixed(3)}`
    console.log(`- ${file}: ${[shares, ...warnings].join('; ')}`)
  }
}

const leastOf = ({ failure, found = 0, right = 0 }: Reading): number =>
  failure === undefined ? Math.min(found, right) : 0

/** The share of a document's words from which on a difference is listed. */
const LISTED = 0.01

function compare(readings: readonly Reading[], before: readonly Reading[]): void {
  const earlier = new Map(before.map((one) => [one.file, one]))
  const changed = readings.flatMap((now) => {
    const then = earlier.get(now.file)
    const by = then ? (now.found ?? 0) - (then.found ?? 0) : 0
    return then && Math.abs(by) >= LISTED ? [{ now, then, by }] : []
  })
  const worse = changed.filter(({ by }) => by < 0).sort((a, b) => a.by - b.by)
  console.log(`${changed.length - worse.length} documents with more words found, ${worse.length} with fewer:`)
  const shown = ({ found, failure }: Reading): string => failure ?? (found ?? 0).toFixed(3)
  for (const { now, then } of worse) console.log(`  ${now.file}: ${shown(then)} -> ${shown(now)}`)
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    save: { type: 'string' },
    against: { type: 'string' },
    type: { type: 'string', multiple: true },
  },
})
const [folder] = positionals
if (!folder) throw new Error('Name the folder of the documents: node bench/extraction.ts FOLDER')
const readings = await measure(folder, values.type ?? [])
report(readings)
if (values.against) compare(readings, JSON.parse(readFileSync(values.against, 'utf8')))
if (values.save) writeFileSync(values.save, `${JSON.stringify(readings, null, 1)}\n`)
