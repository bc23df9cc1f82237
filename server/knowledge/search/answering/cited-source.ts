import type { Static } from 'typebox'
import { guessLanguage } from '../../../platform/text/languages/language.ts'
import { withTables } from '../../../platform/text/rows/named-rows.ts'
import { splitSentences } from '../../../platform/text/words/sentences.ts'
import { splitWords, visibleText } from '../../../platform/text/words/words.ts'
import type { Passage, Piece } from '../knowledge.ts'
import type { CitedSource } from './schema.ts'

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
