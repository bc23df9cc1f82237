/** The gap, in font heights, that is wider than any space between words. */
export const CELL_GAP = 1.3

/** A piece of text on a page, as the library gives it. */
export type PdfItem = {
  str: string
  transform: number[]
  width: number
  height: number
  hasEOL: boolean
  fontName: string
}

/** Letters and marks, but not the digits of Arabic, which run from left to right. */
const RIGHT_TO_LEFT = /[\u0590-\u065f\u066d-\u06ef\u06fa-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/gu
const LEFT_TO_RIGHT = /(?![\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc])\p{L}/gu
const ARABIC = /[\u0600-\u065f\u066d-\u06ef\u06fa-\u08ff\ufb50-\ufdff\ufe70-\ufefc]/u
/** Letters in the form that they have at their place in a word, and marks with the space that carries them. */
const PRESENTED = /[\ufb1d-\ufdff\ufe70-\ufefc]+/gu

/**
 * Puts the items of a page into the order in which they are read, where text runs from right to left: PDFs store what
 * is seen, often letter by letter from left to right. Such a page is mirrored, so that its lines begin at the left and
 * the first column of a table is the leftmost. `width` is that of the page, in points. Other pages stay as they are.
 */
export function inReadingOrder(items: readonly PdfItem[], width: number): readonly PdfItem[] {
  const letters = items.map(({ str }) => str).join('')
  if (!hasRightToLeft(letters)) return items
  const isMirrored = runsRightToLeft(letters)
  return linesByHeight(withoutLostMarks(items)).flatMap((line) => {
    if (isMirrored)
      return withEndOf(
        line,
        readLine(line).map((item) => mirrored(item, width)),
      )
    if (!runsRightToLeft(line.map(({ str }) => str).join(''))) return line
    return withEndOf(line, [joined(readLine(line))])
  })
}

const LOST = '\0'

/**
 * Leaves out marks that the file maps to no character, such as a shadda with its vowel, and the spaces in which they
 * stand, which exist only because such a mark moves the text position.
 */
function withoutLostMarks(items: readonly PdfItem[]): PdfItem[] {
  const marks = new Set(items.filter(({ str, width }) => str === LOST && width === 0))
  const isUnder = (space: PdfItem, mark: PdfItem | undefined): boolean =>
    mark !== undefined && marks.has(mark) && leftOf(mark) > leftOf(space) && leftOf(mark) < rightOf(space)
  return items.filter(
    (item, at) =>
      !marks.has(item) &&
      !(item.str === ' ' && (isUnder(item, items[at - 1]) || isUnder(item, items[at + 1]))),
  )
}

const countOf = (text: string, letters: RegExp): number => text.match(letters)?.length ?? 0
const hasRightToLeft = (text: string): boolean => text.search(RIGHT_TO_LEFT) >= 0
export const runsRightToLeft = (text: string): boolean =>
  countOf(text, RIGHT_TO_LEFT) > countOf(text, LEFT_TO_RIGHT)

const yOf = ({ transform }: PdfItem): number => transform[5] ?? 0
const leftOf = ({ transform }: PdfItem): number => transform[4] ?? 0
const rightOf = (item: PdfItem): number => leftOf(item) + item.width
/** Lines are sorted by this, because combining marks and the second parts of ligatures have no width. */
const middleOf = (item: PdfItem): number => leftOf(item) + item.width / 2
const sizeOf = ({ height, transform }: PdfItem): number =>
  height || Math.hypot(transform[2] ?? 0, transform[3] ?? 0)
const movedTo = (item: PdfItem, x: number): number[] => [
  ...item.transform.slice(0, 4),
  x,
  ...item.transform.slice(5),
]
const mirrored = (item: PdfItem, width: number): PdfItem => ({
  ...item,
  transform: movedTo(item, width - rightOf(item)),
})

/** Groups items that follow each other in the file at the same height. */
function linesByHeight(items: readonly PdfItem[]): PdfItem[][] {
  const lines: PdfItem[][] = []
  for (const item of items) {
    const line = lines.at(-1)
    const first = line?.[0]
    if (line && first && Math.abs(yOf(first) - yOf(item)) <= Math.max(sizeOf(first), sizeOf(item)) * 0.6)
      line.push(item)
    else lines.push([item])
  }
  return lines
}

/** Marks the last item as the end of its line, if one of the line was. */
function withEndOf(line: readonly PdfItem[], read: readonly PdfItem[]): PdfItem[] {
  const hasEnd = line.some(({ hasEOL }) => hasEOL)
  return read.map((item, at) => ({ ...item, hasEOL: hasEnd && at === read.length - 1 }))
}

/**
 * L: a word from left to right; N: a number; C: a sign that may stand within a number; H: a hyphen or plus sign; S: any
 * other sign, or a space; R: text from right to left.
 */
type Kind = 'L' | 'N' | 'C' | 'H' | 'S' | 'R'

function kindOf({ str }: PdfItem): Kind {
  if (hasRightToLeft(str)) return 'R'
  if (str.search(LEFT_TO_RIGHT) >= 0) return 'L'
  if (/\p{Nd}/u.test(str)) return 'N'
  if (/^[.,:/٫٬]$/.test(str)) return 'C'
  return /^[-+]$/.test(str) ? 'H' : 'S'
}

const RUN = /[LNln](?:[SCH]*[LN])*/g
const NUMBERS = /[Nn](?:C?N)*/g
/** Behind Arabic letters, a hyphen separates numbers, which then stand from right to left. */
const NUMBERS_WITH_HYPHENS = /[Nn](?:[CH]?N)*/g

/** Sorts the items of a line from right to left, in which words and numbers that run the other way become one item each. */
function readLine(line: readonly PdfItem[]): PdfItem[] {
  const items = line
    .flatMap(withoutSignsAround)
    .map((item, at) => ({ item: { ...item, str: inPlainLetters(item.str) }, at }))
    // Spaces of hardly any width divide words where a mark stands above a letter.
    .filter(({ item }) => item.str !== '' && (item.width > sizeOf(item) / 20 || item.str.trim() !== ''))
    .sort((a, b) => middleOf(b.item) - middleOf(a.item) || b.at - a.at)
    .map(({ item }) => item)
  const read: PdfItem[] = []
  let from = 0
  for (const [start, end] of runsIn(items)) {
    for (const item of items.slice(from, start)) read.push(turned(item))
    read.push(joined(items.slice(start, end).reverse()))
    from = end
  }
  return [...read, ...items.slice(from).map(turned)]
}

const SIGN = /[^\p{L}\p{M}\p{N}%°]/u

/** Divides an item from left to right into the signs at its ends, which belong to the text around it, and the rest. */
function withoutSignsAround(item: PdfItem): PdfItem[] {
  const letters = [...item.str]
  const start = letters.findIndex((letter) => !SIGN.test(letter))
  const end = letters.findLastIndex((letter) => !SIGN.test(letter)) + 1
  if (hasRightToLeft(item.str) || start < 0 || end - start === letters.length) return [item]
  const each = item.width / letters.length
  let x = leftOf(item)
  return [...letters.slice(0, start), letters.slice(start, end).join(''), ...letters.slice(end)].map(
    (str) => {
      const part = { ...item, str, width: each * [...str].length, transform: movedTo(item, x) }
      x += part.width
      return part
    },
  )
}

/** Returns the runs from left to right among items that are sorted from right to left, by their first and next places. */
function runsIn(items: readonly PdfItem[]): [start: number, end: number][] {
  // An item behind a wide gap, as between the cells of a table, begins a run of its own, and has a small letter.
  const kinds = items
    .map((item, at) => (isBehindGap(items[at - 1], item) ? kindOf(item).toLowerCase() : kindOf(item)))
    .join('')
  const firstArabic = items.findIndex(({ str }) => ARABIC.test(str))
  return [...kinds.matchAll(RUN)].flatMap(({ 0: run, index }): [number, number][] => {
    if (/L/i.test(run)) return [[index, index + run.length]]
    const numbers = firstArabic >= 0 && firstArabic < index ? NUMBERS : NUMBERS_WITH_HYPHENS
    return [...run.matchAll(numbers)].map((one) => [index + one.index, index + one.index + one[0].length])
  })
}

const isBehindGap = (before: PdfItem | undefined, item: PdfItem): boolean =>
  before !== undefined && leftOf(before) - rightOf(item) > sizeOf(item) * CELL_GAP

/** The least width of a space, in font heights; the letters of an Arabic word are never set apart. */
const SPACE = 0.25
const ARABIC_SPACE = 0.15

/** Returns whether a gap between two texts, in font heights, is a space that neither text contains. */
export function isSpace(gap: number, before: string, after: string): boolean {
  const [last = ' ', first = ' '] = [before.at(-1), after.at(0)]
  const isArabic = ARABIC.test(last) || ARABIC.test(first)
  return gap > (isArabic ? ARABIC_SPACE : SPACE) && last.trim() !== '' && first.trim() !== ''
}

/** Joins items that follow each other from the left, or those of a line that were put in order, with spaces for gaps. */
function joined(items: readonly PdfItem[]): PdfItem {
  const first = items[0]!
  const left = items.reduce((least, item) => Math.min(least, leftOf(item)), Infinity)
  let str = ''
  let before: PdfItem | undefined
  for (const item of items) {
    const gap = before ? Math.max(leftOf(item) - rightOf(before), leftOf(before) - rightOf(item)) : 0
    if (isSpace(gap / sizeOf(item), str, item.str)) str += ' '
    str += item.str
    before = item
  }
  const width = items.reduce((most, item) => Math.max(most, rightOf(item)), left) - left
  return { ...first, str, width, transform: movedTo(first, left) }
}

/** Replaces letters in the form of their place by the letters, and a space that carries a mark by the mark. */
const inPlainLetters = (text: string): string =>
  text.replace(PRESENTED, (letters) => letters.normalize('NFKC')).replace(/ (?=\p{M})/gu, '')

const MIRRORED: Record<string, string> = {
  '(': ')',
  ')': '(',
  '[': ']',
  ']': '[',
  '«': '»',
  '»': '«',
  '<': '>',
  '>': '<',
}

/** Brackets are stored as they are seen, and open to the left where text runs from right to left. */
const turned = (item: PdfItem): PdfItem =>
  hasRightToLeft(item.str)
    ? item
    : { ...item, str: item.str.replace(/[()[\]«»<>]/g, (sign) => MIRRORED[sign]!) }
