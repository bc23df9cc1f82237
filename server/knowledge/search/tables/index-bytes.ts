import type { Tables } from './tables.ts'
import { bytesOfVectors } from './vector-table.ts'

/** The measured overhead of a term (key, number, list) and of a chunk (its objects), in bytes. */
const TERM_OVERHEAD = 140
const CHUNK_OVERHEAD = 600
const POSTING_BYTES = 12
const SAID_OVERHEAD = 120

/** Estimates the memory of an index. */
export function bytesOfTables(tables: Tables): number {
  const { slots, terms, grams, passages, provided } = tables
  const gramBytes = grams.heads.byteLength + grams.entries.byteLength
  const vectorBytes = bytesOfVectors(passages) + (provided ? bytesOfVectors(provided) : 0)
  const termBytes = terms.ids.size * TERM_OVERHEAD + terms.characters + terms.size * POSTING_BYTES
  const saidBytes = tables.said.reduce(
    (sum, said) => sum + (said ? said.numbers.byteLength + SAID_OVERHEAD : 0),
    0,
  )
  return gramBytes + vectorBytes + termBytes + saidBytes + slots.count * CHUNK_OVERHEAD + slots.heldBytes
}
