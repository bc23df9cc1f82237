import { estimateTokens } from '../../../platform/text/languages/language.ts'
import type { TranscriptMessage } from '../../records/queries.ts'

/**
 * Returns the index of the first message that a prompt holds. It moves in steps: when the messages before the newest
 * question take more than `room` tokens, the oldest are left out until half of it is free, so that the beginning of the
 * prompt stays the same for the next turns. Whole messages are left out, so that a call never loses its result, and the
 * first that stays is the customer's, because some providers refuse a history that starts with an answer. The newest
 * question and everything after it always stay.
 */
export function fittingFrom(transcript: readonly TranscriptMessage[], room: number): number {
  const newest = transcript.findLastIndex(({ role }) => role === 'user')
  const costs = transcript.map(({ parts }) => estimateTokens(JSON.stringify(parts)))
  const sum = (from: number, to?: number): number => costs.slice(from, to).reduce((a, b) => a + b, 0)
  let [from, total] = [0, 0]
  const leaveOut = (most: number, to: number): void => {
    while (from < to && (total > most || transcript[from]?.role !== 'user')) total -= costs[from++] ?? 0
  }
  for (let at = 0; at < newest; at++) {
    total += costs[at] ?? 0
    if (total > room) leaveOut(room / 2, at + 1)
  }
  // A long question has to fit, too.
  if (total + sum(newest) > MAX_OF_ROOM * room)
    leaveOut(Math.max(0, MAX_OF_ROOM * room - sum(newest)), newest)
  return Math.max(0, from)
}

/** The most that history and question may take together, as a multiple of `room`. */
const MAX_OF_ROOM = 1.25
