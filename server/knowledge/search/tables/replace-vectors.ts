import { unitLength } from '../../../models/static/mean-vector.ts'
import type { Tables } from './tables.ts'
import { createVectorTable, setVector, type VectorTable } from './vector-table.ts'

// The number of vectors that are read at once; see sync-index.ts.
const AT_ONCE = 100

/** Builds a table of other vectors beside the one in use, and replaces that one when no chunk is missing. */
export async function replaceVectors(
  tables: Tables,
  load: (chunkIds: string[]) => Promise<Map<string, Float32Array>>,
): Promise<void> {
  // The chunk that a slot's new vector belongs to, because slots are reused while others are being loaded.
  const done = new Map<number, string>()
  let table: VectorTable | null = null
  for (;;) {
    const missing = slotsToDo(tables, done)
    if (missing.length === 0) break
    const vectors = await load(missing.map(([, id]) => id))
    for (const [slot, id] of missing) {
      const vector = vectors.get(id)
      const unit = vector ? unitLength(vector) : null
      if (unit) table ??= createVectorTable(unit.length)
      if (table) setVector(table, slot, unit?.length === table.dimensions ? unit : null)
      done.set(slot, id)
    }
  }
  tables.provided = table
}

function slotsToDo({ slots }: Tables, done: ReadonlyMap<number, string>): [number, string][] {
  const found: [number, string][] = []
  for (let slot = 0; slot < slots.count && found.length < AT_ONCE; slot++) {
    const chunk = slots.chunks[slot]
    if (chunk && done.get(slot) !== chunk.id) found.push([slot, chunk.id])
  }
  return found
}
