import type { Position } from '../http/pagination.ts'
import type { RankPosition } from './find-by-rank.ts'

const NO_ROW = '00000000-0000-0000-0000-000000000000'
const VALUE = /^(\d{4}-\d{2}-\d{2}) (?:(\d{4}-\d{2}-\d{2}) (\d[\d.e+-]*))?$/

/** `UNTIL FROM RANK`, or `UNTIL ` before the first row. */
export function encodeRank({ until, from, after }: RankPosition): Position {
  if (from === null || after === null) return { value: `${until} `, id: NO_ROW }
  return { value: `${until} ${from} ${after.rank}`, id: after.id }
}

export function isRankValue(value: string): boolean {
  const [, until, from, rank] = VALUE.exec(value) ?? []
  const isDay = (day: string): boolean => !Number.isNaN(Date.parse(`${day}T00:00:00.000Z`))
  return (
    until !== undefined &&
    isDay(until) &&
    (from === undefined || (isDay(from) && Number.isFinite(Number(rank))))
  )
}

export function decodeRank({ value, id }: Position): RankPosition {
  const [, until = '', from, rank] = VALUE.exec(value) ?? []
  if (from === undefined) return { until, from: null, after: null }
  return { until, from, after: { id, rank: Number(rank) } }
}
