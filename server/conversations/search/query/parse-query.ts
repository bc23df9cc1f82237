import type { Stemmers } from '../index/stemmers.ts'
import { bare, queryTerms, type Token, wordsOf } from '../index/text-tokens.ts'

/** One word of a query: any of these terms, or a term that begins with one of the prefixes. */
export type Element = { terms: string[]; prefixes: string[] }
/** What a text must contain: one word, or several consecutive ones. */
export type Term = Element[]

const QUOTED = /["“”„«»]([^"“”„«»]*)["“”„«»]/g

/**
 * Parses a query. Quotes enclose phrases; text without spaces (`wi-fi`, an address) is a phrase as well; and the last
 * word outside of quotes also matches as a prefix. Returns an empty array when the query has no word.
 */
export function parseQuery(query: string, stem: Stemmers): Term[] {
  const terms: Term[] = []
  let end = 0
  let isOpen = false
  const addPlain = (text: string): void => {
    for (const chunk of text.split(/[\s"“”„«»]+/)) {
      const term = termOf(chunk, stem)
      if (term.length > 0) terms.push(term)
      if (term.length > 0) isOpen = true
    }
  }
  for (const { 0: quoted, 1: phrase = '', index } of query.matchAll(QUOTED)) {
    addPlain(query.slice(end, index))
    const term = termOf(phrase, stem)
    if (term.length > 0) terms.push(term)
    if (term.length > 0) isOpen = false
    end = index + quoted.length
  }
  addPlain(query.slice(end))
  const last = terms.at(-1)?.at(-1)
  const word = last?.terms[0]
  if (isOpen && last && word) last.prefixes = [...new Set([...last.prefixes, word, bare(word)])]
  // A repeated term is searched for only once.
  return [...new Map(terms.map((term) => [JSON.stringify(term), term])).values()]
}

/**
 * The most words of a phrase that are searched for, because nearly all of them may match at every position of a text.
 */
const MAX_PHRASE_LENGTH = 32

function termOf(text: string, stem: Stemmers): Term {
  const words = [...wordsOf(text)].slice(0, MAX_PHRASE_LENGTH)
  return words.flatMap((word, i): Element[] => {
    if (!word.dense) return [{ terms: queryTerms(word.text, stem), prefixes: [] }]
    // The last character of a run stands alone, since another one may follow in a text.
    const isAlone = [...word.text].length === 1
    const before = words[i - 1]
    const endsRun = isAlone && before?.dense === true && before.end === word.end
    if (endsRun && i === words.length - 1) return []
    return [{ terms: [word.text], prefixes: isAlone ? [word.text] : [] }]
  })
}

/** Returns whether the term matches the tokens at this position. */
export const matchesAt = (term: Term, tokens: readonly Token[], at: number): boolean =>
  term.every((element, i) => fits(element, tokens[at + i]))

const fits = ({ terms, prefixes }: Element, token: Token | undefined): boolean =>
  token?.terms.some((term) => terms.includes(term) || prefixes.some((prefix) => term.startsWith(prefix))) ??
  false
