import { isDense } from '../../text/languages/dense-script.ts'
import type { Language } from '../../text/languages/language.ts'
import { createStemmer } from '../../text/languages/stem.ts'
import { isStopWord } from '../../text/languages/stop-words.ts'
import { barredTable, tableOf, withTables } from '../../text/rows/named-rows.ts'
import { foldAccents } from '../../text/words/fold-accents.ts'
import { splitWords } from '../../text/words/words.ts'
import type { WordVectors } from '../static/word-vectors.ts'
import type { QuotablePassage } from './input.ts'
import { areNeighbours, LEADS_ON, type Piece, piecesOf, textOfLines } from './pieces.ts'
import { type ScoreSentence, scorerFor } from './score-sentence.ts'
import { type Chosen, wholeList } from './whole-list.ts'

/** The most characters of a table that is quoted whole because its first row may be a header. */
const SMALL_TABLE = 700
/** The most rows of a table that are quoted otherwise. */
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

type ChoosePiece = (passage: QuotablePassage, room: number, isSure: boolean) => Chosen | null

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
  const namedBy = rowNamer(question, language)
  const namedBefore = both === null ? null : rowNamer(about!, language)
  const namerOf: NameRows = (rows) => {
    const [now, before] = [namedBy(rows), namedBefore?.(rows)]
    return (row) => now(row) + (before ? BEFORE * before(row) : 0)
  }
  return (passage, room, isSure) => {
    const lines = passage.text.split('\n')
    const pieces = piecesOf(lines)
    const [best] = pieces
      .filter((piece) => LETTERS.test(piece.text))
      .map((piece) => ({ piece, score: fitOf(piece, score) }))
      .sort((a, b) => b.score - a.score || a.piece.from - b.piece.from)
    if (!best) return null
    if (best.piece.kind === 'rows') {
      const tables = pieces.filter(({ kind }) => kind === 'rows')
      const table = tables.length > 1 ? bestTable(tables, score, namerOf) : best.piece
      return whole(rowsOf(table, score, namerOf, isSure ? NO_ROOM : room))
    }
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
  return Math.max(score(text.slice(0, 2_000)), ...linesOf(text).map(score))
}

const linesOf = (text: string): string[] => text.split('\n').slice(0, 40)

/** Returns the table whose best row has the highest score. */
function bestTable(tables: readonly Piece[], score: ScoreSentence, namerOf: NameRows): Piece {
  const named = namerOf(tables.flatMap(({ text }) => linesOf(text)))
  const bestOf = ({ text }: Piece): number => Math.max(...linesOf(text).map((row) => score(row) + named(row)))
  return tables.map((table) => ({ table, best: bestOf(table) })).sort((a, b) => b.best - a.best)[0]!.table
}

/** The bonus of a row whose first cell, or another one, is in the question verbatim. */
const NAMED = 0.5
const NAMED_LATER = 0.15
/** The bonus of a row that has all words of the question that distinguish rows; with some of them, a row gets a part. */
const TELLING = 0.3
/** Stop words count less, because most of them are in a row by chance. */
const OF_STOP_WORDS = 0.3
const LONGEST_NAME = 60

type NameRows = (rows: readonly string[]) => ScoreSentence

/**
 * Returns a function that, for several rows, returns a scorer of how well the question names one: by a whole cell, such
 * as an error code, and by words that only some rows have, even "above" and "between".
 */
function rowNamer(question: string, language: Language): NameRows {
  const words = splitWords(question.slice(0, 4_000)).slice(0, 100)
  const text = ` ${words.map(foldAccents).join(' ')} `
  const stem = createStemmer()
  const formOf = (word: string): string => stem(word, language)
  const asked = new Map(words.map((word) => [formOf(word), isStopWord(word, language) ? OF_STOP_WORDS : 1]))
  const isNamed = (cell: string): boolean => {
    const [, value = ''] = /^[^:]{1,80}: (.*)$/su.exec(cell) ?? []
    const name = splitWords(value).map(foldAccents).join(' ')
    const isName = name.length <= LONGEST_NAME && /\p{L}.|.\p{L}|\d{3}/u.test(name)
    return isName && text.includes(` ${name} `)
  }
  return (rows) => {
    const said = new Map(rows.map((row) => [row, new Set(splitWords(row).map(formOf))]))
    const weights = [...asked].map(([form, share]) => {
      const having = rows.filter((row) => said.get(row)!.has(form)).length
      return { form, weight: share * Math.log(rows.length / Math.max(1, having)) }
    })
    const most = weights.reduce((sum, { weight }) => sum + weight, 0) || 1
    return (row) => {
      const told = weights.filter(({ form }) => said.get(row)?.has(form))
      const cells = row.split('; ')
      const named = isNamed(cells[0]!) ? NAMED : cells.some(isNamed) ? NAMED_LATER : 0
      return (TELLING * told.reduce((sum, { weight }) => sum + weight, 0)) / most + named
    }
  }
}

/**
 * Returns the run of table rows that fits the question, with the column names and the lead. Rows without names of
 * columns, such as terms with their definitions, only have the lead if they follow it directly.
 */
function rowsOf({ text }: Piece, score: ScoreSentence, namerOf: NameRows, room: number): string {
  const gap = text.lastIndexOf('\n\n')
  const lead = text.slice(0, Math.max(0, gap))
  const rows = text.slice(gap < 0 ? 0 : gap + 2).split('\n')
  const named = namerOf(rows)
  // A header is never the answer, although it often has the most words of the question.
  const first = barredTable(rows, 0, 1) === null ? 0 : 1
  const scores = rows.map((row, at) => (at < first ? -1 : score(row) + named(row)))
  const most = Math.max(...scores)
  const isAlike = (at: number): boolean => (scores[at] ?? -1) >= most * ALIKE
  const isNamed = tableOf(rows) !== null
  // In a table without column names, the best row may be a header, which is useless on its own.
  const areNames = isAlike(0) && !isNamed
  const isWhole = areNames
    ? text.length <= SMALL_TABLE
    : text.length <= room && rows.every((row) => named(row) < NAMED)
  const from = isWhole ? 0 : scores.findIndex((_, at) => isAlike(at))
  let to = isWhole ? rows.length : from + 1
  while (!isWhole && to - from < MOST_ROWS && isAlike(to)) to++
  const chosen = rows.slice(from, to)
  const shown = tableOf(chosen) ?? barredTable(rows, from, to)
  const quoted = shown ?? chosen.join('\n')
  const isLed = lead !== '' && (shown !== null || from === 0 || isNamed)
  return isLed ? `${lead}\n\n${quoted}` : quoted
}
