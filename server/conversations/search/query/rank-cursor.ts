import { isDate } from '../../../platform/http/input/dates.ts'
import type { Position } from '../../../platform/http/pagination.ts'
import type { RankPosition } from './find-by-rank.ts'

const NO_ROW = '00000000-0000-0000-0000-000000000000'
const VALUE = /^((?!0000)\d{4}-\d{2}-\d{2}) (?:((?!0000)\d{4}-\d{2}-\d{2}) (\d[\d.e+-]*))?$/

/** Encoded as `UNTIL FROM RANK`, or as `UNTIL ` before the first row. */
export function encodeRank({ until, from, after }: RankPosition): Position {
  if (from === null || after === null) return { value: `${until} `, id: NO_ROW }
  return { value: `${until} ${from} ${after.rank}`, id: after.id }
}

export function isRankValue(value: string): boolean {
  const [, until, from, rank] = VALUE.exec(value) ?? []
  return (
    until !== undefined &&
    isDate(until) &&
    (from === undefined || (isDate(from) && Number.isFinite(Number(rank))))
  )
}

export function decodeRank({ value, id }: Position): RankPosition {
  const [, until = '', from, rank] = VALUE.exec(value) ?? []
  if (from === undefined) return { until, from: null, after: null }
  return { until, from, after: { id, rank: Number(rank) } }
}
