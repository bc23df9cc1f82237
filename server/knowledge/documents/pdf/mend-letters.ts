import type { PdfPage } from 'pdfjs-dist/legacy/build/pdf.mjs'
import type { PdfItem } from './right-to-left.ts'

/** How far apart two strikes of the same text are at most, in font heights. */
const STRIKE = 0.15
/** A wider gap between two letters is a space. */
const SPACE = 0.25
/** How well the overlap of two pieces must fit the width of the letters that both have. */
const LEAST = 0.5
const MOST = 1.5
/** How wide a letter is at most, in font heights, beside narrow ones. */
const WIDEST = 0.8

/** Returns the items of a page without those that repeat another one to make it look bold or to add a shadow. */
export function withoutStruckTwice(items: readonly PdfItem[]): PdfItem[] {
  const struck = new Map<string, PdfItem[]>()
  const once = items.filter((item) => {
    if (item.str.trim() === '') return true
    const same = struck.get(item.str) ?? []
    if (same.some((other) => isAt(item, other))) return false
    struck.set(item.str, [...same.slice(-MAX_SAME), item])
    return true
  })
  return withoutOverlaps(once)
}

/** How many equal texts are compared, because a page may repeat a letter thousands of times. */
const MAX_SAME = 8

const xOf = ({ transform }: PdfItem): number => transform[4] ?? 0
const yOf = ({ transform }: PdfItem): number => transform[5] ?? 0
const rightOf = (item: PdfItem): number => xOf(item) + item.width

function isAt(item: PdfItem, other: PdfItem): boolean {
  const near = Math.min(item.height * STRIKE, item.width / 2)
  return Math.abs(xOf(item) - xOf(other)) < near && Math.abs(yOf(item) - yOf(other)) < near
}

/**
 * Where each letter is struck twice, the library joins the second strike of a letter with the first strike of the next:
 * "W", "WA", "AR". The letters that two pieces share, one above the other, are taken from the first.
 */
function withoutOverlaps(items: readonly PdfItem[]): PdfItem[] {
  let before: PdfItem | null = null
  let sharedBefore = 0
  return items.map((item, at) => {
    const next = items[at + 1]
    const shared = next ? overlapOf(item, next) : 0
    const [previous, struck] = [before, sharedBefore]
    before = item
    sharedBefore = shared
    const whole = struck > 0 ? item.str.slice(0, struck) + once(item.str.slice(struck)) : item.str
    if (!next || shared === 0) return whole === item.str ? item : { ...item, str: whole }
    const rest = whole.slice(0, -shared)
    const isSpace =
      whole === item.str && (previous === null || xOf(next) - rightOf(previous) > item.height * SPACE)
    return {
      ...item,
      str: isSpace ? rest : rest.trimEnd(),
      width: isSpace ? item.width * (rest.length / item.str.length) : xOf(next) - xOf(item),
    }
  })
}

/** Both strikes of a narrow letter are in one piece, with a space where the letter is far narrower than its place. */
const once = (text: string): string => text.replace(/\s*(\S)\1\s*/gu, '$1')

/** Returns how many letters at the end of an item are struck again by the beginning of the next. */
function overlapOf(item: PdfItem, next: PdfItem): number {
  const overlap = rightOf(item) - xOf(next)
  const isOver = xOf(next) > xOf(item) - item.height * STRIKE && overlap > 0
  if (!isOver || Math.abs(yOf(item) - yOf(next)) > item.height * STRIKE) return 0
  for (let length = Math.min(item.str.length, next.str.length); length > 0; length -= 1) {
    const width = (item.width * length) / item.str.length
    const isShared = item.str.endsWith(next.str.slice(0, length)) && next.str.slice(0, length).trim() !== ''
    const most = Math.max(width * MOST, item.height * WIDEST * length)
    if (isShared && overlap >= width * LEAST && overlap <= most) return length
  }
  return 0
}

/** Letters with a space after each, as the library reports a title whose letters are set apart. */
const APART = /^\s*(?:\S ){3,}\S\s*$/u
const MIN_LETTERS = 4

const isApart = ({ str }: PdfItem): boolean =>
  APART.test(str) && (str.match(/\p{L}/gu)?.length ?? 0) >= MIN_LETTERS
const bare = (text: string): string => text.replace(/\s+/g, '')

/**
 * Returns the words that letters set apart make, between the spaces that the file has, by the texts that the library
 * reports.
 */
export async function joinedLetters(items: readonly PdfItem[], page: PdfPage): Promise<Map<string, string>> {
  const apart = items.filter(isApart).map(({ str }) => str.trim())
  if (apart.length === 0) return new Map()
  const { OPS } = await import('pdfjs-dist/legacy/build/pdf.mjs')
  const { fnArray, argsArray } = await page.getOperatorList().catch(() => ({ fnArray: [], argsArray: [] }))
  const shown = new Map<string, string>()
  for (const [at, operation] of fnArray.entries()) {
    const text = operation === OPS.showText ? lettersOf(argsArray[at]?.[0]) : ''
    shown.set(bare(text), text.trim())
  }
  return new Map(apart.map((str) => [str, shown.get(bare(str)) ?? bare(str)]))
}

const lettersOf = (glyphs: unknown): string =>
  Array.isArray(glyphs)
    ? glyphs.map((glyph: { unicode?: string } | null) => glyph?.unicode ?? '').join('')
    : ''
