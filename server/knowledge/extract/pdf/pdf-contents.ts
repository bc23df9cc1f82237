import type { PdfLine } from './pdf-lines.ts'

/** A line that ends with the number of a page. */
const ENTRY = /^(.+?)\s*(\d{1,5}|[ivxlc]{1,9})$/u
/** The dots that lead from a title to its page. */
const DOTS = /(?:[.…·]\s?){3,}$/
/** A line of an index without dots: a term and its pages. */
const TERM = /^(\p{L}.*?),\s\d{1,5}(?:[–-]\d{1,5})?(?:,\s\d{1,5}(?:[–-]\d{1,5})?)*$/u
/** Longer lines are prose, and are not examined. */
const LONGEST_LINE = 300
/** The most lines between two entries, because a long title has several lines. */
const BETWEEN = 3
const FEWEST_ENTRIES = 4
/** An index is known by its order alone, so it needs more. */
const FEWEST_TERMS = 20
/** The share of the entries that must be in order. */
const MOST = 0.7
/** The share of the titles that must occur in the document again. */
const HALF = 0.5

/** `page` is null when the number is Roman or there are several. */
type Entry = { at: number; title: string; page: number | null; hasDots: boolean }

/**
 * Removes tables of contents and indexes: they repeat the words of the headings, so that searches would find them in
 * place of what they refer to. Because a price list looks alike, the numbers must be pages of the document, and the
 * entries must be in the order of the pages, with titles that occur again, or a long list in alphabetical order.
 */
export function dropContents(pages: PdfLine[][]): PdfLine[][] {
  if (pages.length < 2) return pages
  const lines = pages.flat()
  const entries: Entry[] = []
  const terms: Entry[] = []
  const others = new Set<string>()
  for (const [at, { text }] of lines.entries()) {
    const entry = entryOf(text, at)
    if (entry) entries.push(entry)
    else others.add(keyOf(text))
    const term = text.length > LONGEST_LINE ? undefined : TERM.exec(text)?.[1]
    if (term !== undefined) terms.push({ at, title: term, page: null, hasDots: false })
  }
  const isSaidAgain = ({ title }: Entry): boolean => others.has(keyOf(title))
  const isContents = (run: readonly Entry[]): boolean =>
    run.length >= FEWEST_ENTRIES &&
    run.filter(isSaidAgain).length >= run.length * HALF &&
    isInOrder(run, (a, b) => (a.page ?? 0) <= (b.page ?? Number.POSITIVE_INFINITY))

  const gone = new Set<PdfLine>()
  const drop = (run: readonly Entry[]): void => {
    for (let at = run[0]!.at; at <= run.at(-1)!.at; at++) gone.add(lines[at]!)
  }
  for (const run of runsOf(entries.filter((entry) => entry.hasDots || isSaidAgain(entry)))) {
    if (run.some(({ page }) => page !== null && page > pages.length)) continue
    if (isContents(run) || (run.some(({ hasDots }) => hasDots) && isAlphabetical(run))) drop(run)
  }
  for (const run of runsOf(terms)) if (isAlphabetical(run)) drop(run)
  return gone.size === 0 ? pages : pages.map((page) => page.filter((line) => !gone.has(line)))
}

function entryOf(text: string, at: number): Entry | null {
  const [, said = '', number = ''] = text.length > LONGEST_LINE ? [] : (ENTRY.exec(text) ?? [])
  const title = said.replace(DOTS, '')
  const hasDots = title !== said
  // The number has to be a word of its own.
  if (!/\p{L}/u.test(title) || (!hasDots && !text.endsWith(` ${number}`))) return null
  return { at, title, page: /^\d/.test(number) ? Number(number) : null, hasDots }
}

/** Splits the entries where too many other lines are between them. */
function runsOf(entries: readonly Entry[]): Entry[][] {
  const runs: Entry[][] = []
  for (const entry of entries) {
    const last = runs.at(-1)
    if (last && entry.at - last.at(-1)!.at <= BETWEEN + 1) last.push(entry)
    else runs.push([entry])
  }
  return runs
}

const isAlphabetical = (run: readonly Entry[]): boolean =>
  run.length >= FEWEST_TERMS && isInOrder(run, (a, b) => keyOf(a.title) <= keyOf(b.title))

function isInOrder(run: readonly Entry[], isBefore: (a: Entry, b: Entry) => boolean): boolean {
  const right = run.slice(1).filter((entry, before) => isBefore(run[before]!, entry))
  return right.length >= (run.length - 1) * MOST
}

/** The letters of a title, without its number. */
const keyOf = (text: string): string => text.replace(/[^\p{L}]+/gu, '').toLowerCase()
