import { createYielder } from '../../../platform/concurrency/yield-to-event-loop.ts'
import type { Token } from '../index/text-tokens.ts'
import { matchesAt, type Term } from './parse-query.ts'

export type Highlights = { value: string; isHit: boolean }[]

/** The approximate length of a snippet, in characters. */
const LENGTH = 180

type Range = { start: number; end: number }

/** A position in a text at which a term matches, and the index of the term. */
type Hit = Range & { term: number }

/**
 * Indexes the terms by their first word: a whole word by itself, a prefix by its first letter. Returns a function
 * that finds the candidates for a token.
 */
function indexOf(terms: readonly Term[]): (token: Token) => Set<number> {
  const whole = new Map<string, number[]>()
  const beginnings = new Map<string, number[]>()
  const add = (index: Map<string, number[]>, key: string, at: number): void => {
    index.set(key, [...(index.get(key) ?? []), at])
  }
  for (const [at, [first]] of terms.entries()) {
    for (const term of first?.terms ?? []) add(whole, term, at)
    for (const prefix of first?.prefixes ?? []) add(beginnings, prefix.charAt(0), at)
  }
  return (token) =>
    new Set(
      token.terms.flatMap((term) => [...(whole.get(term) ?? []), ...(beginnings.get(term.charAt(0)) ?? [])]),
    )
}

/** Returns the ranges of a text that the terms match, in order. Yields to other work in between. */
export async function hitsIn(terms: readonly Term[], tokens: readonly Token[]): Promise<Hit[]> {
  const breathe = createYielder()
  const candidates = indexOf(terms)
  const hits: Hit[] = []
  for (const [at, token] of tokens.entries()) {
    for (const term of candidates(token)) {
      const elements = terms[term] as Term
      if (matchesAt(elements, tokens, at))
        hits.push({ start: token.start, end: (tokens[at + elements.length - 1] as Token).end, term })
    }
    const pause = breathe()
    if (pause) await pause
  }
  return hits.sort((a, b) => a.start - b.start || b.end - a.end)
}

/** Returns the number of different terms in the best range of a snippet's length, and its start. */
export function bestStretch(hits: readonly Hit[]): Range & { terms: number } {
  let best = { start: 0, end: 0, terms: 0 }
  /** How often each term occurs from the first hit of the range up to the first one too far from it. */
  const inside = new Map<number, number>()
  let next = 0
  hits.forEach(({ start, term }, first) => {
    for (; next < hits.length; next++) {
      const hit = hits[next] as Hit
      if (next > first && hit.end - start > LENGTH) break
      inside.set(hit.term, (inside.get(hit.term) ?? 0) + 1)
    }
    if (inside.size > best.terms) {
      const end = hits.slice(first, next).reduce((furthest, hit) => Math.max(furthest, hit.end), 0)
      best = { start, end, terms: inside.size }
    }
    const left = (inside.get(term) ?? 0) - 1
    if (left > 0) inside.set(term, left)
    else inside.delete(term)
  })
  return best
}

/** Returns the text around the range, cut between words, with its hits marked. */
export function highlight(text: string, hits: readonly Range[], stretch: Range): Highlights {
  const spare = Math.max(0, LENGTH - (stretch.end - stretch.start))
  const from = Math.max(0, Math.min(stretch.start - Math.floor(spare / 2), text.length - LENGTH))
  const start = wordStart(text, from, stretch.start)
  const end = wordEnd(text, Math.min(text.length, Math.max(stretch.end, start + LENGTH)), stretch.end)
  const pieces: Highlights = []
  let at = start
  const add = (until: number, isHit: boolean): void => {
    if (until > at) pieces.push({ value: text.slice(at, until), isHit })
    at = Math.max(at, until)
  }
  for (const range of merged(hits)) {
    if (range.start < start || range.end > end) continue
    add(range.start, false)
    add(range.end, true)
  }
  add(end, false)
  return pieces
}

/** Merges overlapping hits. */
function merged(hits: readonly Range[]): Range[] {
  const found: Range[] = []
  for (const { start, end } of hits) {
    const last = found.at(-1)
    if (last && start < last.end) last.end = Math.max(last.end, end)
    else found.push({ start, end })
  }
  return found
}

/** Finds a space to cut at on the way to the hit. Scripts without spaces are cut anywhere. */
function wordStart(text: string, from: number, hit: number): number {
  if (from === 0) return 0
  const space = text.slice(from, Math.min(hit, from + 40)).search(/\s/)
  return whole(text, space === -1 ? from : from + space + 1)
}

function wordEnd(text: string, until: number, hit: number): number {
  if (until === text.length) return until
  const tail = text.slice(Math.max(hit, until - 40), until)
  const space = tail.search(/\s\S*$/)
  return whole(text, space === -1 ? until : until - tail.length + space)
}

/** Never cuts between the halves of a surrogate pair. */
const whole = (text: string, at: number): number =>
  /[\udc00-\udfff]/.test(text[at] ?? '') && /[\ud800-\udbff]/.test(text[at - 1] ?? '') ? at + 1 : at
