import type { Element, Term } from '../query/parse-query.ts'

/** Stands in the words of a conversation that is too long to keep the places of its words. */
export const LONG = '/long'

/** A term as tsvector and tsquery write it. */
export const quoted = (term: string): string => `'${term.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`

const anyOf = (alternatives: string[]): string =>
  alternatives.length === 1 ? (alternatives[0] as string) : `(${alternatives.join('|')})`

const elementQuery = ({ terms, prefixes }: Element): string =>
  anyOf([
    ...terms.filter((term) => !prefixes.includes(term)).map(quoted),
    ...prefixes.map((prefix) => `${quoted(prefix)}:*`),
  ])

/** Every term; a phrase in a long conversation only by its words, which whoever asks has to look at again. */
export function termsQuery(terms: readonly Term[]): string {
  return terms
    .map((term) => {
      const elements = term.map(elementQuery)
      if (elements.length === 1) return elements[0]
      return `((${elements.join('<->')})|(${quoted(LONG)}&${elements.join('&')}))`
    })
    .join('&')
}

/** Any of the words, for ranking. */
export const rankQuery = (terms: readonly Term[]): string => terms.flat().map(elementQuery).join('|')

/** All of the groups, any of a group's facets. */
export const facetsQuery = (groups: readonly (readonly string[])[]): string =>
  groups.map((group) => anyOf(group.map(quoted))).join('&')
