import { createHash } from 'node:crypto'
import type { EmbeddingEntry } from '../catalogue/embedding-entry.ts'
import { type Prefixes, prefixesOf } from './embedding-prefixes.ts'

const markOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8)

/**
 * Returns a mark of the prefixes for the name of a space. It is empty for a model without prefixes, whose spaces keep
 * the names that they had before prefixes existed.
 */
const prefixMark = ({ query, passage }: Prefixes): string =>
  query === '' && passage === '' ? '' : `~${markOf(JSON.stringify([query, passage]))}`

/** Returns the name of the embedding space of an entry. The same files in another folder make the same space. */
export function spaceOf(entry: EmbeddingEntry): string {
  const marked = prefixMark(entry.prefixes)
  if ('folder' in entry) return `folder@${entry.hash}${marked}`
  const { name, baseUrl, dimensions } = entry
  return `${name}@${markOf(baseUrl)}${dimensions ? `/${dimensions}` : ''}${marked}`
}

/**
 * Returns the entry that made a space, if that was another model on the same server as `known`, or the same model
 * with other prefixes; else null.
 */
export function entryOfSpace(space: string, known: EmbeddingEntry): EmbeddingEntry | null {
  // Prefixes that were configured by hand and have been removed cannot be recovered from their mark.
  const candidates = (name: string): Prefixes[] => [
    { query: '', passage: '' },
    prefixesOf(name),
    known.prefixes,
  ]
  if ('folder' in known) {
    const others = candidates(known.name).map((prefixes) => ({ ...known, prefixes }))
    return others.find((entry) => spaceOf(entry) === space) ?? null
  }
  const [, name, mark, dimensions, marked = ''] =
    /^(.+)@([0-9a-f]{8})(?:\/(\d+))?(~[0-9a-f]{8})?$/.exec(space) ?? []
  if (name === undefined || mark !== markOf(known.baseUrl)) return null
  const prefixes = candidates(name).find((candidate) => prefixMark(candidate) === marked)
  return prefixes
    ? { ...known, name, prefixes, dimensions: dimensions === undefined ? null : Number(dimensions) }
    : null
}
