import { compactCosine, writeCompact } from '../../models/static/compact-vector.ts'

/** One compact vector for each slot, in one block for exact scans. */
export type VectorTable = { readonly dimensions: number; rows: Int8Array; present: Uint8Array }

export function createVectorTable(dimensions: number): VectorTable {
  return { dimensions, rows: new Int8Array(dimensions * 64), present: new Uint8Array(64) }
}

/** Stores a unit-length vector of the table's dimensions for a slot; null takes away what a former chunk left. */
export function setVector(table: VectorTable, slot: number, vector: Float32Array | null): void {
  if (slot >= table.present.length) {
    const size = Math.max(table.present.length * 2, slot + 1)
    const rows = new Int8Array(size * table.dimensions)
    rows.set(table.rows)
    const present = new Uint8Array(size)
    present.set(table.present)
    table.rows = rows
    table.present = present
  }
  table.present[slot] = vector ? 1 : 0
  if (vector) writeCompact(vector, table.rows, slot * table.dimensions)
}

/** Cosine of a compact vector with a slot's; 0 when the slot has none. */
export function cosineWithSlot(table: VectorTable, vector: Int8Array, slot: number): number {
  return table.present[slot] ? compactCosine(vector, table.rows, slot * table.dimensions) : 0
}
