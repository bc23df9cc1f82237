import type { IndexedChunk } from '../passage.ts'
import { bytesOfChunk } from './chunk-bytes.ts'

export const FREE = 0
export const LIVE = 1
/** Written, but not yet visible to search. */
const PENDING = 2
/** No longer visible; its postings still exist. */
export const DEAD = 3
/** Dead; its postings are being removed. */
export const SWEPT = 4

export const NO_SLOT = -1

/** Assigns a numbered slot to each chunk. The numbers of dead chunks are reused once their postings are removed. */
export type SlotTable = {
  chunks: (IndexedChunk | null)[]
  /** The compact vectors of the chunk's sentences, one after the other. */
  sentences: (Int8Array | null)[]
  states: Uint8Array
  /** The weighted number of terms. */
  lengths: Float32Array
  /** The slots of the chunks before and after, in reading order; NO_SLOT at the beginning and the end of a source. */
  before: Int32Array
  after: Int32Array
  free: number[]
  count: number
  live: number
  dead: number
  liveLength: number
  /** The bytes of the texts and sentence vectors of all stored chunks. */
  heldBytes: number
}

export function createSlotTable(): SlotTable {
  return {
    chunks: [],
    sentences: [],
    states: new Uint8Array(64),
    lengths: new Float32Array(64),
    before: new Int32Array(64),
    after: new Int32Array(64),
    free: [],
    count: 0,
    live: 0,
    dead: 0,
    liveLength: 0,
    heldBytes: 0,
  }
}

/** Puts a chunk into a slot that is not yet visible to search; returns the slot's number. */
export function takeSlot(
  slots: SlotTable,
  chunk: IndexedChunk,
  length: number,
  sentences: Int8Array | null,
): number {
  const slot = slots.free.pop() ?? slots.count++
  if (slot >= slots.states.length) {
    const states = new Uint8Array(slots.states.length * 2)
    states.set(slots.states)
    slots.states = states
    const lengths = new Float32Array(slots.lengths.length * 2)
    lengths.set(slots.lengths)
    slots.lengths = lengths
    slots.before = doubled(slots.before)
    slots.after = doubled(slots.after)
  }
  slots.chunks[slot] = chunk
  slots.sentences[slot] = sentences
  slots.heldBytes += bytesOfChunk(chunk, sentences)
  slots.states[slot] = PENDING
  slots.lengths[slot] = length
  slots.before[slot] = NO_SLOT
  slots.after[slot] = NO_SLOT
  return slot
}

function doubled(numbers: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(numbers.length * 2)
  larger.set(numbers)
  return larger
}

export function showSlot(slots: SlotTable, slot: number): void {
  slots.states[slot] = LIVE
  slots.live++
  slots.liveLength += slots.lengths[slot]!
}

/** Hides a slot from search at once and releases its text. */
export function dropSlot(slots: SlotTable, slot: number): void {
  if (slots.states[slot] === LIVE) {
    slots.live--
    slots.liveLength -= slots.lengths[slot]!
  }
  const chunk = slots.chunks[slot]
  if (chunk) slots.heldBytes -= bytesOfChunk(chunk, slots.sentences[slot] ?? null)
  slots.states[slot] = DEAD
  slots.chunks[slot] = null
  slots.sentences[slot] = null
  slots.dead++
}

/** The number of slots that contain a chunk, visible or not. */
export function slotsInUse(slots: SlotTable): number {
  return slots.count - slots.free.length - slots.dead
}
