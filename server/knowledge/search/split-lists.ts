import { ITEM, piecesOf } from '../../models/builtin/pieces.ts'
import { joinList, withoutLead } from '../../models/builtin/whole-list.ts'
import type { IndexedChunk, Passage } from './passage.ts'
import { NO_SLOT, type SlotTable } from './tables/slot-table.ts'

/** The most chunks on either side of one through which a list is followed. */
const MOST_CHUNKS = 30

const NUMBERS = /^\s*\(?(\d{1,3})[.)]\s/gm
const BULLET = /^\s*([-*+•‣▪—–])\s/

/** The lists that a chunk begins and ends with, which may be the same; null where it has none. */
type Edges = { first: string | null; last: string | null }

/**
 * Returns a function that returns the rest of the lists that a chunk begins and ends with, if they go on in the
 * neighbouring chunks of the same section. It remembers what it has read, because the passages of one search are often
 * neighbours.
 */
export function splitListFinder(
  slots: SlotTable,
): (slot: number) => Pick<Passage, 'listBefore' | 'listAfter'> {
  const known = new Map<number, Edges>()
  const edgesOf = (slot: number): Edges => {
    const edges = known.get(slot) ?? readEdges(slots.chunks[slot]!.text)
    known.set(slot, edges)
    return edges
  }
  const isTogether = (slot: number, next: number): boolean =>
    next !== NO_SLOT && isSameSection(slots.chunks[slot]!, slots.chunks[next]!)

  const before = (start: number): string => {
    let list = ''
    for (let slot = start, count = 0; ; count++) {
      const { first } = edgesOf(slot)
      const next = slots.before[slot]!
      const head = first !== null && isTogether(slot, next) ? edgesOf(next).last : null
      if (head === null || !goesOn(head, first!)) return list
      // A list whose beginning is too far away is not quoted from the middle.
      if (count === MOST_CHUNKS) return ''
      list = joinList(head, withoutLead(head, list))
      if (head !== edgesOf(next).first) return list
      slot = next
    }
  }
  const after = (start: number): string => {
    let list = ''
    for (let slot = start, count = 0; count < MOST_CHUNKS; count++) {
      const { last } = edgesOf(slot)
      const next = slots.after[slot]!
      const tail = last !== null && isTogether(slot, next) ? edgesOf(next).first : null
      if (tail === null || !goesOn(last!, tail)) break
      list = joinList(list, withoutLead(last!, tail))
      if (tail !== edgesOf(next).last) break
      slot = next
    }
    return list
  }
  return (slot) => {
    const [listBefore, listAfter] = [before(slot), after(slot)]
    return { ...(listBefore ? { listBefore } : {}), ...(listAfter ? { listAfter } : {}) }
  }
}

function readEdges(text: string): Edges {
  const lines = text.split('\n')
  // Most chunks have no list.
  if (!isList(lines)) return { first: null, last: null }
  const pieces = piecesOf(lines)
  const [first, last] = [pieces[0], pieces.at(-1)]
  const listOf = (piece: typeof first): string | null =>
    piece && isList(piece.text.split('\n')) ? piece.text : null
  return {
    first: first?.from === 0 ? listOf(first) : null,
    last: last?.to === lines.length ? listOf(last) : null,
  }
}

const isList = (lines: readonly string[]): boolean => lines.some((line) => ITEM.test(line))

const isSameSection = (one: IndexedChunk, other: IndexedChunk): boolean =>
  one.sourceId === other.sourceId &&
  one.url === other.url &&
  JSON.stringify(one.headingPath) === JSON.stringify(other.headingPath)

/** Returns whether a list goes on with another one: with the next number, or with the same bullet. */
function goesOn(head: string, tail: string): boolean {
  const rest = withoutLead(head, tail)
  const bullet = BULLET.exec(rest)?.[1]
  if (bullet === undefined) {
    const [next] = numbersIn(rest)
    return next !== undefined && numbersIn(head).at(-1) === next - 1
  }
  const last = head.split('\n').findLast((line) => ITEM.test(line)) ?? ''
  return BULLET.exec(last)?.[1] === bullet
}

const numbersIn = (text: string): number[] => [...text.matchAll(NUMBERS)].map(([, number]) => Number(number))
