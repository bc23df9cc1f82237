import type { PdfLine } from './pdf-lines.ts'

/** A line that ends with the number of a page. */
const ENTRY = /^(.+?)\s*(\d{1,5}|[ivxlc]{1,9})$/u
/** The dots that lead from a title to its page. */
const DOTS = /(?:[.…·]\s?){3,}$/
/** A line of an index without dots: a term and its pages. */
const TERM = /^(\p{L}.*?),\s\d{1,5}(?:[–-]\d{1,5})?(?:,\s\d{1,5}(?:[–-]\d{1,5})?)*$/u
/** Longer lines are prose, and are not examined. */
const LONGEST_LINE = 300
/** The maximum number of lines between two entries, because a long title takes several lines. */
const BETWEEN = 3
const FEWEST_ENTRIES = 4
/** An index is recognised by its order alone, so it must have more entries. */
const FEWEST_TERMS = 20
/** The share of the entries that must be in order. */
const MOST = 0.7
/** The share of the titles that must occur on their page. */
const HALF = 0.5
/** The most places of one title that are compared with its page. */
const MOST_PLACES = 20

/** `page` is null when the number is Roman or there are several. */
type Entry = { at: number; title: string; page: number | null; hasDots: boolean }

/**
 * Removes tables of contents and indexes: they repeat the words of the headings, so that searches would find them in
 * place of what they refer to. Because a price list looks alike, the numbers must be pages of the document on which the
 * titles occur, in their order, or the entries must be a long list in alphabetical order.
 */
export function dropContents(pages: PdfLine[][]): PdfLine[][] {
  if (pages.length < 2) return pages
  const lines = pages.flat()
  const entries: Entry[] = []
  const terms: Entry[] = []
  /** The pages on which each other line occurs. */
  const places = new Map<string, number[]>()
  const pageOf = pages.flatMap((page, at) => page.map(() => at + 1))
  for (const [at, { text }] of lines.entries()) {
    const entry = entryOf(text, at)
    if (entry) entries.push(entry)
    else addPlace(places, keyOf(text), pageOf[at]!)
    const term = text.length > LONGEST_LINE ? undefined : TERM.exec(text)?.[1]
    if (term !== undefined) terms.push({ at, title: term, page: null, hasDots: false })
  }
  const isSaidAgain = ({ title }: Entry): boolean => places.has(keyOf(title))
  const isContents = (run: readonly Entry[]): boolean =>
    run.length >= FEWEST_ENTRIES &&
    onTheirPages(run, places) >= run.length * HALF &&
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

function addPlace(places: Map<string, number[]>, key: string, page: number): void {
  const known = places.get(key)
  if (!known) places.set(key, [page])
  else if (known.length < MOST_PLACES) known.push(page)
}

/** Returns how many titles occur on the page that their entry names, with the numbering that fits most of them. */
function onTheirPages(run: readonly Entry[], places: ReadonlyMap<string, number[]>): number {
  const fits = new Map<number, number>()
  for (const { title, page } of run) {
    const found = page === null ? [] : (places.get(keyOf(title)) ?? [])
    for (const start of new Set(found.map((place) => place - page!)))
      fits.set(start, (fits.get(start) ?? 0) + 1)
  }
  return Math.max(0, ...fits.values())
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
