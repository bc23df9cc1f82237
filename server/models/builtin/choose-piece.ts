import { isDense } from '../../text/languages/dense-script.ts'
import type { Language } from '../../text/languages/language.ts'
import { barredTable, tableOf, withTables } from '../../text/rows/named-rows.ts'
import { splitWords } from '../../text/words/words.ts'
import type { WordVectors } from '../static/word-vectors.ts'
import type { QuotablePassage } from './input.ts'
import { areNeighbours, LEADS_ON, type Piece, piecesOf, textOfLines } from './pieces.ts'
import { type ScoreSentence, scorerFor } from './score-sentence.ts'
import { type Chosen, wholeList } from './whole-list.ts'

/** The most rows of a table that are quoted. */
const MOST_ROWS = 3
/** The share of the best row's score that another row needs. */
const ALIKE = 0.98
const BEFORE = 0.5
/** In a script without spaces, a paragraph of up to this many sentences is quoted whole. */
const MOST_SENTENCES = 3
/**
 * STANDS_OUT is the share of the best sentence's score below which another sentence must stay. LEAST_FIT is the score
 * that the best sentence needs.
 */
const STANDS_OUT = 0.5
const LEAST_FIT = 0.4
/** Without a heading, paragraphs that follow each other may be about anything, and only the one that fits is quoted. */
const NO_ROOM = 0
const LETTERS = /\p{L}.*\p{L}|[\p{Script=Han}\p{N}]/su

type ChoosePiece = (passage: QuotablePassage, room: number) => Chosen | null

/**
 * Returns a function that chooses from a passage the piece that fits the question best, with whole neighbouring
 * pieces as far as `room`, in characters, allows. It returns null for a passage with nothing to quote. A quote is one
 * run of the passage's lines; for a table, it is the lead, the column names and one run of rows. A list that goes on in
 * other passages is quoted with its parts there.
 */
export function pieceChooser(
  question: string,
  about: string | undefined,
  language: Language,
  words: WordVectors,
): ChoosePiece {
  const own = scorerFor(question, language, words)
  const both = about === undefined || about === question ? null : scorerFor(about, language, words)
  // The earlier question says what the conversation is about, and this one what is asked about it.
  const score: ScoreSentence = (text) => own(text) + (both ? BEFORE * both(text) : 0)
  const namedIn = rowNamer(question)
  return (passage, room) => {
    const lines = passage.text.split('\n')
    const pieces = piecesOf(lines)
    const [best] = pieces
      .filter((piece) => LETTERS.test(piece.text))
      .map((piece) => ({ piece, score: fitOf(piece, score) }))
      .sort((a, b) => b.score - a.score || a.piece.from - b.piece.from)
    if (!best) return null
    if (best.piece.kind === 'rows') return whole(rowsOf(best.piece, (row) => score(row) + namedIn(row)))
    const list = wholeList(best.piece, pieces, passage)
    if (list) return list
    const sentences = best.piece.kind === 'prose' ? denseSentences(best.piece.text, score) : null
    if (sentences !== null) return whole(sentences)
    const { from, to } = withNeighbours(
      lines,
      pieces,
      best.piece,
      passage.headingPath.length > 0 ? room : NO_ROOM,
    )
    return whole(withTables(textOfLines(lines, from, to)))
  }
}

const whole = (text: string): Chosen => ({ text, goesOn: false })

/**
 * Returns the lines to quote: a paragraph with the pieces after it, and then those before it, as far as there is
 * room. A list or code block without a lead gets the pieces before it, and one with a lead is complete.
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
 * Returns the run of sentences that fit the question about as well as the best one, from a paragraph in a script
 * without spaces, whose few characters say much. Returns null for other paragraphs, for short ones, and when no
 * sentence stands out.
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

/**
 * Scores a piece. In a list or a table, the line that fits best counts as well as the whole, because the other lines
 * are about something else.
 */
function fitOf({ text, kind }: Piece, score: ScoreSentence): number {
  if (kind !== 'rows' && kind !== 'list') return score(text)
  return Math.max(score(text.slice(0, 2_000)), ...text.split('\n').slice(0, 40).map(score))
}

/** What a row gains if one of its cells is in the question as it is, and if it has all words of the question. */
const NAMED = 0.3
const ALL_WORDS = 0.1
const LONGEST_NAME = 60

/**
 * Returns a function that scores how a question names a row of a table: by a whole cell, such as the code of an error, or
 * by its small words, such as "above" and "between", which tell rows apart that share all others.
 */
function rowNamer(question: string): ScoreSentence {
  const asked = splitWords(question.slice(0, 4_000)).slice(0, 100)
  const text = ` ${asked.join(' ')} `
  const isNamed = (cell: string): boolean => {
    const [, value = ''] = /^[^:]{1,80}: (.*)$/su.exec(cell) ?? []
    const name = splitWords(value).join(' ')
    const isName = name.length <= LONGEST_NAME && /\p{L}.|.\p{L}|\d{3}/u.test(name)
    return isName && text.includes(` ${name} `)
  }
  return (row) => {
    const said = new Set(splitWords(row))
    const share = asked.filter((word) => said.has(word)).length / Math.max(1, asked.length)
    return ALL_WORDS * share + (row.split('; ').some(isNamed) ? NAMED : 0)
  }
}

/**
 * Returns the run of table rows that fits the question, with the column names and the lead. Rows without names of
 * columns, such as terms with their definitions, only have the lead if they follow it directly.
 */
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
  const named = tableOf(chosen) ?? barredTable(rows, from, to)
  const quoted = named ?? chosen.join('\n')
  const isLed = lead !== '' && (named !== null || from === 0 || tableOf(rows) !== null)
  return isLed ? `${lead}\n\n${quoted}` : quoted
}
