import { unitLength } from '../../../models/static/mean-vector.ts'
import type { Stemmer } from '../../../text/languages/stem.ts'
import type { IndexedChunk } from '../passage.ts'
import { analyseChunk } from '../question/analyse-chunk.ts'
import { addTermGrams } from './gram-table.ts'
import { saidWordsOf } from './said-words.ts'
import { slotsInUse, takeSlot } from './slot-table.ts'
import { languagesInOrder, type Tables } from './tables.ts'
import { addPosting } from './term-table.ts'
import { createVectorTable, setVector } from './vector-table.ts'

/** Writes a chunk into a slot that search does not see yet; returns the slot's number. */
export function writeChunk(tables: Tables, chunk: IndexedChunk, stem: Stemmer): number {
  const analysed = analyseChunk(chunk, tables, stem)
  // The provider's vector is kept as bytes, in its table, and not a second time.
  const { vector, ...held } = chunk
  const slot = takeSlot(tables.slots, held, analysed.length, analysed.sentences)
  tables.languageOf[slot] = analysed.language
  tables.languages.add(analysed.language)
  tables.chunksOf.set(analysed.language, (tables.chunksOf.get(analysed.language) ?? 0) + 1)
  tables.said[slot] = saidWordsOf(held, tables.lexicon.in(languagesInOrder(tables)))
  for (const [term, frequency] of analysed.frequencies) {
    const { id, isNew } = addPosting(tables.terms, term, slot, frequency)
    if (isNew) addTermGrams(tables.grams, term, id)
  }
  setVector(tables.passages, slot, analysed.passage)
  writeProvided(tables, slot, vector ?? null)
  return slot
}

/** A vector of another model (other dimensions) cannot be compared: the chunk then goes without. */
function writeProvided(tables: Tables, slot: number, vector: Float32Array | null): void {
  if (vector && (!tables.provided || slotsInUse(tables.slots) === 1)) {
    if (tables.provided?.dimensions !== vector.length) tables.provided = createVectorTable(vector.length)
  }
  if (!tables.provided) return
  const fits = vector?.length === tables.provided.dimensions
  setVector(tables.provided, slot, fits ? unitLength(vector) : null)
}
