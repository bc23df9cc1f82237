import type { Element, Term } from '../query/parse-query.ts'

/** A lexeme that marks conversations which are too long to store the positions of words. */
export const LONG = '/long'

/** Escapes a term for tsvector and tsquery. */
export const quoted = (term: string): string => `'${term.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`

const anyOf = (alternatives: string[]): string =>
  alternatives.length === 1 ? alternatives.join() : `(${alternatives.join('|')})`

const elementQuery = ({ terms, prefixes }: Element): string =>
  anyOf([
    ...terms.filter((term) => !prefixes.includes(term)).map(quoted),
    ...prefixes.map((prefix) => `${quoted(prefix)}:*`),
  ])

/**
 * Matches all terms. In a long conversation, a phrase is matched only by its words, so the caller has to check it
 * again.
 */
export function termsQuery(terms: readonly Term[]): string {
  return terms
    .map((term) => {
      const elements = term.map(elementQuery)
      if (elements.length === 1) return elements[0]
      return `((${elements.join('<->')})|(${quoted(LONG)}&${elements.join('&')}))`
    })
    .join('&')
}

/** Matches any of the words, for ranking. */
export const rankQuery = (terms: readonly Term[]): string => terms.flat().map(elementQuery).join('|')

/** Matches all of the groups, each by any of its facets. */
export const facetsQuery = (groups: readonly (readonly string[])[]): string =>
  groups.map((group) => anyOf(group.map(quoted))).join('&')
