import type { WordVectors } from '../static/word-vectors.ts'
import type { QuotablePassage } from './input.ts'
import { type Piece, piecesOf } from './pieces.ts'
import { type ScoreSentence, scorerFor } from './score-sentence.ts'

/** Rows of a table that are quoted at most. */
const MOST_ROWS = 3
/** Share of the best row's score that another one needs. */
const ALIKE = 0.98
const BEFORE = 0.5
const LETTERS = /\p{L}.*\p{L}|[\p{Script=Han}\p{N}]/su

export type ChoosePiece = (passage: QuotablePassage, room: number) => string | null

/**
 * Chooses from passages the piece that fits a question best, with whole pieces beside it as far as there is `room` for
 * so many characters; null for a passage with nothing to quote.
 */
export function pieceChooser(question: string, about: string | undefined, words: WordVectors): ChoosePiece {
  const own = scorerFor(question, words)
  const whole = about === undefined || about === question ? null : scorerFor(about, words)
  // What was asked before tells what it is about, and the question itself what is wanted of it.
  const score: ScoreSentence = (text) => own(text) + (whole ? BEFORE * whole(text) : 0)
  return ({ text }, room) => {
    const pieces = piecesOf(text).filter((piece) => LETTERS.test(piece.text))
    const [best] = pieces
      .map((piece, place) => ({ piece, place, score: fitOf(piece, score) }))
      .sort((a, b) => b.score - a.score || a.place - b.place)
    if (!best) return null
    if (best.piece.kind === 'rows') return rowsOf(best.piece, score)
    const quoted = best.piece.kind === 'prose' ? withNeighbours(pieces, best.place, room) : [best.piece]
    return quoted.map((piece) => piece.text).join('\n\n')
  }
}

/** A paragraph with those after it, then those before it, that there is room for. */
function withNeighbours(pieces: readonly Piece[], place: number, room: number): Piece[] {
  let [from, to] = [place, place + 1]
  const fits = (start: number, end: number): boolean => {
    const added = pieces.slice(start, end)
    if (added.some(({ kind }) => kind !== 'prose')) return false
    return added.reduce((sum, { text }) => sum + text.length, 0) <= room
  }
  while (to < pieces.length && fits(from, to + 1)) to++
  while (from > 0 && fits(from - 1, to)) from--
  return pieces.slice(from, to)
}

/** Of a list or a table the line that fits best counts as well as the whole: the others are about something else. */
function fitOf({ text, kind }: Piece, score: ScoreSentence): number {
  if (kind !== 'rows' && kind !== 'list') return score(text)
  return Math.max(score(text.slice(0, 2_000)), ...text.split('\n').slice(0, 40).map(score))
}

/** The rows of a table that were asked for, each with its header. */
function rowsOf({ text }: Piece, score: ScoreSentence): string {
  const [lead, table] = text.includes('\n\n') ? text.split('\n\n', 2) : ['', text]
  const rows = table!.split('\n').map((row) => ({ row, score: score(row) }))
  const most = Math.max(...rows.map((row) => row.score))
  const chosen = rows.filter((row) => row.score >= most * ALIKE).slice(0, MOST_ROWS)
  const quoted = chosen.map(({ row }) => (chosen.length > 1 ? `- ${row}` : row)).join('\n')
  return lead ? `${lead}\n\n${quoted}` : quoted
}
