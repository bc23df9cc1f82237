import { addQuestions, removeQuestions } from '../question/exact-questions.ts'
import { DEAD, dropSlot, FREE, LIVE, NO_SLOT, SWEPT, showSlot } from './slot-table.ts'
import type { Tables } from './tables.ts'
import { sweepPostings } from './term-table.ts'

/** With fewer dead slots than this, a sweep is not worth its time. */
const FEWEST_DEAD = 256

/** Makes the chunks of a document, in reading order, visible to search. */
export function showChunks(tables: Tables, slots: readonly number[]): void {
  for (const [at, slot] of slots.entries()) {
    showSlot(tables.slots, slot)
    tables.slots.before[slot] = slots[at - 1] ?? NO_SLOT
    tables.slots.after[slot] = slots[at + 1] ?? NO_SLOT
    addQuestions(tables.exact, slot, tables.slots.chunks[slot]!)
  }
}

/** Hides chunks from search at once; their postings are removed by the next sweep. */
export function dropChunks(tables: Tables, slots: readonly number[]): void {
  for (const slot of slots) {
    const chunk = tables.slots.chunks[slot]
    if (chunk && tables.slots.states[slot] === LIVE) removeQuestions(tables.exact, slot, chunk)
    dropSlot(tables.slots, slot)
    tables.said[slot] = null
  }
}

export function isSweepDue({ slots }: Tables): boolean {
  return slots.dead >= FEWEST_DEAD && slots.dead > slots.live / 2
}

/** Removes the postings of dead chunks and frees their slots, yielding to other work in between. */
export async function sweep(tables: Tables, breathe: () => Promise<void> | undefined): Promise<void> {
  const { slots, terms } = tables
  const swept: number[] = []
  for (let slot = 0; slot < slots.count; slot++) {
    if (slots.states[slot] !== DEAD) continue
    slots.states[slot] = SWEPT
    swept.push(slot)
  }
  for (let id = 0; id < terms.postings.length; id++) {
    sweepPostings(terms, id, (slot) => slots.states[slot] === SWEPT)
    await breathe()
  }
  for (const slot of swept) slots.states[slot] = FREE
  slots.free.push(...swept)
  slots.dead -= swept.length
}
