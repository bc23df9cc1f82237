import type { Static } from 'typebox'
import type { Config } from '../../../config.ts'
import type { SourceRef } from '../../../platform/db/refs.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { SecretLocation } from '../../../platform/secrets/seal.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { guessLanguage } from '../../../platform/text/languages/language.ts'
import { isArrayIndex, namesIndexedIn } from '../../../platform/text/rows/array-index.ts'
import { withTables } from '../../../platform/text/rows/named-rows.ts'
import { splitSentences, splitWords, visibleText } from '../../../platform/text/words/words.ts'
import type { Passage, Piece } from '../search-result.ts'
import { givenText } from './given-passages.ts'
import type { CitedSource } from './schema.ts'

/** Matches `[1]`, `[1, 3]`, `[2-4]` and the variants that models write: `[^1]`, `[passage 1]`, `【1†source】`. */
const MARKER =
  /^[[【]\s{0,2}\^?(?:(?:passages?|sources?|documents?|quellen?)\s{0,2})?(\d{1,3}(?:\s{0,2}[,;、&–-]\s{0,2}\d{1,3}){0,15})\s{0,2}(?:†[^】\]\n]{0,40})?[\]】]/i
const MARKERS = new RegExp(`[ \\t]{0,8}${MARKER.source.slice(1)}`, 'gi')
/** Matches text that may become a marker together with the text that follows. */
const BEGUN = /^[[【]\s{0,2}\^?[a-z]{0,9}\s{0,2}[\d\s,;、&–-]{0,90}(?:†[^】\]\n]{0,40})?$/i
/** Matches where a marker or code may begin. */
const CANDIDATE = /`|[[【](?:[\d\s^a-z]|$)/i
const MAX_MARKER_LENGTH = 200
const MAX_CODE_SPAN_LENGTH = 300
const LINE = /^[^\n]*/
/** How much of the text before a marker counts as the claim that it supports. */
const CLAIM = 300

/** How many characters of a text are decided, and what replaces them. */
type Step = { length: number; text: string }

/**
 * Converts the passage numbers that a model writes into the numbers of the sources sent with its answer. Sources are
 * numbered in the order in which they are first cited, after those cited `before`. Markers that refer to nothing are
 * dropped. Code and array indexes (`argv[2]`) stay as they are. It is a class because each of thousands of answers keeps
 * one.
 */
export class Citations {
  readonly #passages: readonly Passage[]
  readonly #before: readonly StoredSource[]
  /** The claim that each cited passage first supported, by the index of the passage. */
  #cited: Map<number, string> | null = null
  #order: readonly number[] | null = null
  #pending = ''
  /** The end of the text that was shown, as long as a claim may be. */
  #said = ''
  #isFenced = false
  #names: ReadonlySet<string> | null = null

  constructor(passages: readonly Passage[], before: readonly StoredSource[]) {
    this.#passages = passages
    this.#before = before
  }

  /** Sets the passages, as indexes, that the numbers of a model refer to if it numbers its citations by itself. */
  numberBy(cited: readonly number[] | null): void {
    this.#order = cited
  }

  /**
   * Returns the part of the text so far that can be shown, with the markers of the sources. The rest follows later.
   */
  push(delta: string): string {
    this.#pending += delta
    return this.#drain(false)
  }

  /** Returns the rest at the end of a text. */
  flush(): string {
    const rest = this.#drain(true)
    this.#isFenced = false
    return rest
  }

  /** Returns the sources; the n-th is the one that the marker [n] refers to. */
  sources(): StoredSource[] {
    const cited = [...(this.#cited ?? [])]
    return [
      ...this.#before,
      ...cited.flatMap(([index, claim]) => {
        const passage = this.#passages[index]
        return passage ? [citedSource(passage, claim)] : []
      }),
    ]
  }

  #drain(isLast: boolean): string {
    let shown = ''
    while (this.#pending !== '') {
      const step = this.#next(isLast)
      if (step === null) break
      this.#pending = this.#pending.slice(step.length)
      this.#said = (this.#said + step.text).slice(-CLAIM)
      shown += step.text
    }
    return shown
  }

  /** Returns what is decided next, or null when more text is needed. */
  #next(isLast: boolean): Step | null {
    const pending = this.#pending
    if (this.#isFenced) return this.#inFence(isLast)
    const found = pending.search(CANDIDATE)
    const end = found < 0 ? pending.length : found
    let plain = end
    // Spaces before a marker are dropped with it.
    while (plain > 0 && (pending[plain - 1] === ' ' || pending[plain - 1] === '\t')) plain--
    if (plain > 0) return { length: plain, text: pending.slice(0, plain) }
    const whole = { length: pending.length, text: pending }
    if (found < 0) return isLast || this.#passages.length === 0 ? whole : null
    const spaces = pending.slice(0, found)
    const rest = pending.slice(found)
    if (rest[0] === '`') return this.#codeSpan(spaces, rest, isLast)
    const head = rest.length > MAX_MARKER_LENGTH ? rest.slice(0, MAX_MARKER_LENGTH) : rest
    const marker = MARKER.exec(head)
    if (marker && rest[0] === '[' && spaces === '' && this.#isIndex(marker[1] ?? ''))
      return { length: marker[0].length, text: marker[0] }
    if (marker) {
      const numbers = this.#numbersOf(marker[1] ?? '')
      return { length: found + marker[0].length, text: numbers === '' ? '' : spaces + numbers }
    }
    if (rest.length <= MAX_MARKER_LENGTH && BEGUN.test(rest)) {
      if (!isLast) return null
      return /\d/.test(rest) ? { length: pending.length, text: '' } : whole
    }
    return { length: found + 1, text: `${spaces}${rest[0]}` }
  }

  #isIndex(numbers: string): boolean {
    this.#names ??= namesIndexedIn(this.#passages.map(givenText))
    return isArrayIndex(this.#said, numbers, this.#names)
  }

  #numbersOf(list: string): string {
    this.#cited ??= new Map()
    const markers = new Set<string>()
    for (const written of rangesIn(list)) {
      const index = this.#order ? this.#order[written - 1] : written - 1
      if (index === undefined || !this.#passages[index]) continue
      if (!this.#cited.has(index)) this.#cited.set(index, claimIn(this.#said))
      markers.add(`[${this.#before.length + [...this.#cited.keys()].indexOf(index) + 1}]`)
    }
    return [...markers].join('')
  }

  #inFence(isLast: boolean): Step | null {
    const pending = this.#pending
    const close = pending.indexOf('```')
    if (close >= 0) {
      this.#isFenced = false
      const length = close + 3
      return { length, text: pending.slice(0, length) }
    }
    const held = isLast ? 0 : (/`{1,2}$/.exec(pending)?.[0].length ?? 0)
    const length = pending.length - held
    return length === 0 ? null : { length, text: pending.slice(0, length) }
  }

  #codeSpan(spaces: string, rest: string, isLast: boolean): Step | null {
    const run = /^`+/.exec(rest)?.[0] ?? ''
    if (run.length === rest.length && !isLast) return null
    const opening = { length: spaces.length + run.length, text: spaces + run }
    if (run.length >= 3) {
      this.#isFenced = true
      return opening
    }
    const line = LINE.exec(rest.slice(run.length, run.length + MAX_CODE_SPAN_LENGTH))?.[0] ?? ''
    const close = closingRun(line, run.length)
    // A run of backticks at the end of the text may still grow.
    const isWhole = close >= 0 && (run.length + close + run.length < rest.length || isLast)
    if (isWhole) {
      const length = spaces.length + run.length + close + run.length
      return { length, text: this.#pending.slice(0, length) }
    }
    const isOpen = run.length + line.length === rest.length && line.length <= MAX_CODE_SPAN_LENGTH
    return isOpen && !isLast ? null : opening
  }
}

/** Removes the markers from text that somebody else wrote, since they refer to nothing here. */
export function withoutMarkers(text: string): string {
  if (!/[[【]/.test(text)) return text
  if (!text.includes('`')) {
    return text.replace(MARKERS, (marker, numbers: string, at: number) =>
      marker[0] === '[' && isArrayIndex(text.slice(Math.max(0, at - 80), at), numbers) ? marker : '',
    )
  }
  const none = new Citations([], [])
  return none.push(text) + none.flush()
}

/** Returns the position of a run of exactly `length` backticks, or -1. */
function closingRun(line: string, length: number): number {
  for (const { 0: run, index } of line.matchAll(/`+/g)) if (run.length === length) return index
  return -1
}

function rangesIn(list: string): number[] {
  return list.split(/[,;、&]/).flatMap((piece) => {
    const [from = 0, to = from] = piece.split(/[–-]/).map(Number)
    return to > from && to - from < 16
      ? Array.from({ length: to - from + 1 }, (_, i) => from + i)
      : [from, to]
  })
}

/** Returns the sentence or line that a marker follows, without the markers before it. */
const claimIn = (said: string): string =>
  said
    .replace(/(?:\s*\[\d+\])+\s*$/, '')
    .split(/\n|\[\d+\]/)
    .at(-1) ?? ''

/** A cited passage as it is stored. `isFile` marks a source that is an uploaded file and has no URL of its own. */
export type StoredSource = Static<typeof CitedSource> & { isFile?: true }

const MAX_QUOTE_LENGTH = 320
const MAX_ANCHOR_WORDS = 8

/** Returns the source to store for a claim that cites the passage. */
export function citedSource(passage: Passage, claim: string): StoredSource {
  const { sourceId, sourceName, url, score, isFile, headingPath } = passage
  const { text, page, anchor } = citedPiece(passage, claim)
  const quote = quoteFor(text, claim)
  return {
    id: sourceId,
    name: sourceName,
    url,
    score,
    page,
    anchor: url === null ? textAnchorOf(isFile, page, quote) : anchorOf(url, anchor, quote),
    headingPath,
    quote,
    ...(isFile ? { isFile } : {}),
  }
}

/** Returns the chunk of a passage that a claim is most likely from: in doubt, the one that was found. */
function citedPiece(passage: Passage, claim: string): Piece {
  const others = (passage.pieces ?? []).filter(({ chunkId }) => chunkId !== passage.chunkId)
  const likenessOf = ({ text }: Piece): number =>
    Math.max(...sharedWords(visibleText(text.trim()), claim).shared)
  return [passage, ...others]
    .map((piece) => ({ piece, likeness: others.length > 0 ? likenessOf(piece) : 0 }))
    .reduce((best, one) => (one.likeness > best.likeness ? one : best)).piece
}

/** Returns the parts of a text, and how much of each is in the claim. */
function sharedWords(text: string, claim: string): { parts: Part[]; shared: number[] } {
  const parts = partsOf(text)
  const claimed = new Set(splitWords(claim))
  const shared = parts.map(({ from, to }) => {
    const words = new Set(splitWords(text.slice(from, to)))
    return [...words].filter((word) => claimed.has(word)).length / Math.sqrt(words.size + 1)
  })
  return { parts, shared }
}

/**
 * Returns the sentences of the passage around the one that shares the most words with the claim, verbatim. Table rows
 * are quoted with their column names.
 */
function quoteFor(text: string, claim: string): string {
  const whole = visibleText(text.trim())
  if (whole.length <= MAX_QUOTE_LENGTH) return withTables(whole)
  const { parts, shared } = sharedWords(whole, claim)
  const best = shared.indexOf(Math.max(...shared, 0))
  if (best < 0) return cut(whole)
  let [first, last] = [best, best]
  const fits = (start: number, end: number): boolean =>
    parts[start] !== undefined &&
    parts[end] !== undefined &&
    parts[end].to - parts[start].from <= MAX_QUOTE_LENGTH
  for (;;) {
    if (fits(first, last + 1)) last++
    else if (fits(first - 1, last)) first--
    else break
  }
  const quote = cut(whole.slice(parts[first]?.from, parts[last]?.to))
  return withTables(quote)
}

type Part = { from: number; to: number }

/** Returns the positions of the sentences, list items and table rows in a text. */
function partsOf(text: string): Part[] {
  const language = guessLanguage(text)
  let at = 0
  return text.split('\n').flatMap((line) => {
    const start = at
    at += line.length + 1
    let end = start
    return splitSentences(line, language).map((sentence) => {
      const from = text.indexOf(sentence, end)
      end = from + sentence.length
      return { from, to: end }
    })
  })
}

function cut(text: string): string {
  if (text.length <= MAX_QUOTE_LENGTH) return text
  const space = text.lastIndexOf(' ', MAX_QUOTE_LENGTH)
  return `${text.slice(0, space > MAX_QUOTE_LENGTH / 2 ? space : MAX_QUOTE_LENGTH).toWellFormed()} …`
}

/** Returns the text fragment of a file without pages, because browsers that display such a file scroll to the text. */
const textAnchorOf = (isFile: true | undefined, page: number | null, quote: string): string | null =>
  isFile && page === null ? textFragment(quote) : null

/**
 * Returns the URL fragment of the quoted text: the URL's own fragment if it has one, else the id of the heading together
 * with a text fragment.
 */
function anchorOf(url: string, heading: string | undefined, quote: string): string | null {
  const own = URL.parse(url)?.hash.slice(1)
  if (own) return own
  const fragment = textFragment(quote)
  if (heading === undefined) return fragment
  return `${encodeURIComponent(heading.toWellFormed())}${fragment ?? ''}`
}

function textFragment(quote: string): string | null {
  // Only words with no Markdown syntax between them appear on the page exactly as they do here.
  const runs = quote.split(/[*_`#|[\]()<>\n]+|\s-\s/).map((run) => run.trim().split(/\s+/))
  const longest = runs.reduce<string[]>((best, run) => (run.length > best.length ? run : best), [])
  const words = longest.slice(0, MAX_ANCHOR_WORDS).join(' ')
  if (words === '') return null
  return `:~:text=${encodeURIComponent(words.toWellFormed()).replaceAll('-', '%2D')}`
}

/** Longer than the responses to repeated requests are kept, because those contain the URLs. */
const HOLDS_MS = 26 * 60 * 60 * 1_000

/** What the addresses of files are sealed for. */
export const ADDRESS_OF_FILE: SecretLocation = { table: 'sources', row: '', purpose: 'address' }

/**
 * Returns a URL that opens the file of a source for a day, for anybody who has it, at the given page if there is one.
 */
function sourceFileUrl(
  { secrets, config }: { secrets: Secrets; config: Config },
  { accountId, agentId, sourceId }: SourceRef,
  page: number | null,
): string {
  const until = Date.now() + HOLDS_MS
  const token = secrets.key.seal(JSON.stringify([accountId, agentId, sourceId, until]), ADDRESS_OF_FILE)
  const fragment = page === null ? '' : `#page=${page}`
  return `${config.publicUrl ?? ''}/source-files/${encodeURIComponent(token)}${fragment}`
}

type Deps = { secrets: Secrets; config: Config }
type Owner = { account_id: AccountId; agent_id: string }

/** Converts the sources of an answer for a reader who may see it. The URLs of files expire. */
export type PresentSources = (owner: Owner, sources: readonly StoredSource[]) => Static<typeof CitedSource>[]

export const presentSourcesOf =
  (ctx: Deps): PresentSources =>
  ({ account_id, agent_id }, sources) =>
    sources.map((source) => {
      const shown = plainSource(source)
      if (!source.isFile) return shown
      const place = { accountId: account_id, agentId: agent_id, sourceId: source.id }
      return { ...shown, url: sourceFileUrl(ctx, place, shown.page) }
    })

/** Answers stored by earlier versions lack the last four fields. */
export const plainSource = ({
  id,
  name,
  url,
  score,
  page = null,
  anchor = null,
  headingPath = [],
  quote = '',
}: StoredSource): Static<typeof CitedSource> => ({ id, name, url, score, page, anchor, headingPath, quote })
