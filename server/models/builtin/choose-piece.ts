import { isDense } from '../../text/dense-script.ts'
import { tableOf, withTables } from '../../text/named-rows.ts'
import type { WordVectors } from '../static/word-vectors.ts'
import type { QuotablePassage } from './input.ts'
import { areNeighbours, LEADS_ON, type Piece, piecesOf, textOfLines } from './pieces.ts'
import { type ScoreSentence, scorerFor } from './score-sentence.ts'

/** Rows of a table that are quoted at most. */
const MOST_ROWS = 3
/** Share of the best row's score that another one needs. */
const ALIKE = 0.98
const BEFORE = 0.5
/** So many sentences of a script without spaces are quoted whole. */
const MOST_SENTENCES = 3
/** Share of the best sentence's score that another one must stay below, and the score that the best one needs. */
const STANDS_OUT = 0.5
const LEAST_FIT = 0.4
const LETTERS = /\p{L}.*\p{L}|[\p{Script=Han}\p{N}]/su

export type ChoosePiece = (passage: QuotablePassage, room: number) => string | null

/**
 * Chooses from passages the piece that fits a question best, with whole pieces beside it as far as there is `room` for
 * so many characters; null for a passage with nothing to quote. A quote is one run of the passage's lines; of a table
 * it is the lead, the names of the columns and one run of rows.
 */
export function pieceChooser(question: string, about: string | undefined, words: WordVectors): ChoosePiece {
  const own = scorerFor(question, words)
  const whole = about === undefined || about === question ? null : scorerFor(about, words)
  // What was asked before tells what it is about, and the question itself what is wanted of it.
  const score: ScoreSentence = (text) => own(text) + (whole ? BEFORE * whole(text) : 0)
  return ({ text }, room) => {
    const lines = text.split('\n')
    const pieces = piecesOf(lines)
    const [best] = pieces
      .filter((piece) => LETTERS.test(piece.text))
      .map((piece) => ({ piece, score: fitOf(piece, score) }))
      .sort((a, b) => b.score - a.score || a.piece.from - b.piece.from)
    if (!best) return null
    if (best.piece.kind === 'rows') return rowsOf(best.piece, score)
    const sentences = best.piece.kind === 'prose' ? denseSentences(best.piece.text, score) : null
    if (sentences !== null) return sentences
    const { from, to } = withNeighbours(lines, pieces, best.piece, room)
    return withTables(textOfLines(lines, from, to))
  }
}

/**
 * A paragraph with the pieces after it, then those before it, that there is room for; a list or code that nothing leads
 * to with those before it. One with a lead is complete.
 */
function withNeighbours(
  lines: readonly string[],
  pieces: readonly Piece[],
  piece: Piece,
  room: number,
): { from: number; to: number } {
  const place = pieces.indexOf(piece)
  let { from, to } = piece
  const fits = (start: number, end: number): boolean => textOfLines(lines, start, end).length <= room
  if (piece.kind !== 'prose' && LEADS_ON.test(piece.text.split('\n', 1)[0]!)) return piece
  for (const next of piece.kind === 'prose' ? pieces.slice(place + 1) : []) {
    if (!LETTERS.test(next.text) || !areNeighbours(lines, { to }, next) || !fits(from, next.to)) break
    to = next.to
  }
  for (const before of pieces.slice(0, place).reverse()) {
    if (!LETTERS.test(before.text) || !areNeighbours(lines, before, { from }) || !fits(before.from, to)) break
    from = before.from
  }
  return { from, to }
}

/**
 * Of a paragraph in a script without spaces, whose few characters say much: the run of sentences that fit the question
 * about as well as the best one. null: it is none, is short, or no sentence stands out.
 */
function denseSentences(text: string, score: ScoreSentence): string | null {
  if (!isDense(text)) return null
  const sentences = text.match(/[^。！？]+[。！？]*[」』）]*/g) ?? []
  if (sentences.length <= MOST_SENTENCES) return null
  const scores = sentences.map(score)
  const most = Math.max(...scores)
  if (most < LEAST_FIT) return null
  const best = scores.indexOf(most)
  const fits = (at: number): boolean => (scores[at] ?? 0) >= most * STANDS_OUT
  let [from, to] = [best, best + 1]
  while (fits(from - 1)) from--
  while (fits(to)) to++
  const isTold = scores.every((_, at) => (at >= from && at < to) || !fits(at))
  return isTold ? sentences.slice(from, to).join('').trim() : null
}

/** Of a list or a table the line that fits best counts as well as the whole: the others are about something else. */
function fitOf({ text, kind }: Piece, score: ScoreSentence): number {
  if (kind !== 'rows' && kind !== 'list') return score(text)
  return Math.max(score(text.slice(0, 2_000)), ...text.split('\n').slice(0, 40).map(score))
}

/** The rows of a table that were asked for, with its names and what leads to it; they follow each other. */
function rowsOf({ text }: Piece, score: ScoreSentence): string {
  const [lead, table] = text.includes('\n\n') ? text.split('\n\n', 2) : ['', text]
  const rows = table!.split('\n')
  const scores = rows.map(score)
  const most = Math.max(...scores)
  const isAlike = (at: number): boolean => (scores[at] ?? -1) >= most * ALIKE
  const from = scores.findIndex((_, at) => isAlike(at))
  let to = from + 1
  while (to - from < MOST_ROWS && isAlike(to)) to++
  const chosen = rows.slice(from, to)
  const quoted = tableOf(chosen) ?? chosen.join('\n')
  return lead ? `${lead}\n\n${quoted}` : quoted
}
