import { tableOf } from '../../text/rows/named-rows.ts'

/** A unit that is only quoted as a whole: a paragraph, a list with its introduction, table rows or a code block. */
export type Piece = {
  kind: 'prose' | 'list' | 'rows' | 'code'
  /** The piece consists of the passage's lines from index `from` up to, but not including, `to`. */
  from: number
  to: number
  text: string
}

export const ITEM = /^\s*(?:[-*+•‣▪—–]|\(?\d{1,3}[.)]|[a-z]\))\s/
const ROW = /^\S.* \| /
export const FENCE = /^\s*(?:```|~~~)/
/** Matches a text that introduces what follows, so that both belong together. */
export const LEADS_ON = /[:：](?:\*\*)?\s*$/
const HEADING = /^#{1,6}\s/
const RULE = /^[\s*_=|:+#~-]+$/
/** A paragraph with fewer characters than this usually needs the text after it to make sense. */
const SHORT = 110
/** The same for a paragraph before code, which is usually a command. */
const LONGEST_LEAD = 200

/**
 * Splits a passage's lines into pieces, in order. Headings and rules belong to no piece, and no piece extends across
 * one.
 */
export function piecesOf(lines: readonly string[]): Piece[] {
  const pieces: Piece[] = []
  for (const block of blocksOf(lines)) {
    const last = pieces.at(-1)
    if (!last || !areNeighbours(lines, last, block)) {
      pieces.push(block)
      continue
    }
    const isCommand = block.kind === 'code' && !isItem(block) && isItem(last) && isShort(last)
    const isLed = isCommand || (LEADS_ON.test(last.text) && (last.kind === 'prose' || block.kind === 'code'))
    const goesOn = (last.kind === 'list' || (last.kind === 'code' && isItem(last))) && isItem(block)
    if (isLed || goesOn) pieces[pieces.length - 1] = joined(lines, last, block)
    else pieces.push(block)
  }
  return joinShort(lines, pieces)
}

/**
 * Returns whether the last line of a piece is so short that it introduces the code after it, like a step with its
 * command.
 */
const isShort = ({ kind, text }: Piece): boolean =>
  kind !== 'code' && text.slice(text.lastIndexOf('\n') + 1).length <= LONGEST_LEAD

const STEP = /^\s*\d{1,3}[.)]\s/m

/** Returns whether a text has numbered steps or code. */
export const hasSteps = (text: string): boolean =>
  STEP.test(text) || text.split('\n').some((line) => FENCE.test(line))

/** Returns whether a piece begins with an item of a list. The steps of instructions often have their own code. */
const isItem = ({ kind, text }: Piece): boolean => kind !== 'rows' && ITEM.test(text.split('\n', 1)[0]!)

/** Returns the text of consecutive lines, and adds the missing end of a code fence that has only one. */
export function textOfLines(lines: readonly string[], from: number, to: number): string {
  const text = lines.slice(from, to)
  while (text[0]?.trim() === '') text.shift()
  while (text.at(-1)?.trim() === '') text.pop()
  const fences = text.filter((line) => FENCE.test(line)).length
  if (fences % 2 === 0) return text.join('\n')
  return (FENCE.test(text[0]!) ? [...text, '```'] : ['```', ...text]).join('\n')
}

/** Returns whether only empty lines are between the two pieces. */
export const areNeighbours = (
  lines: readonly string[],
  first: Pick<Piece, 'to'>,
  second: Pick<Piece, 'from'>,
): boolean => lines.slice(first.to, second.from).every((line) => line.trim() === '')

/** Joins two pieces into one, of the kind of the second. */
const joined = (lines: readonly string[], first: Piece, second: Piece): Piece => ({
  kind: second.kind,
  from: first.from,
  to: second.to,
  text: textOfLines(lines, first.from, second.to),
})

/** A shorter sentence says too little to be quoted alone. */
const SHORTEST = 60
const isComplete = (text: string): boolean => /[.!。！]$/u.test(text.trimEnd())

/** Joins a short line, such as a term or a sentence that announces something, with the piece that follows. */
function joinShort(lines: readonly string[], pieces: readonly Piece[]): Piece[] {
  const result: Piece[] = []
  for (const piece of pieces) {
    const last = result.at(-1)
    const short = piece.kind === 'code' ? LONGEST_LEAD : SHORT
    const isAlone = last?.kind === 'prose' && last.text.length < (isComplete(last.text) ? SHORTEST : short)
    const hasOwnLead = piece.kind !== 'prose' && LEADS_ON.test(piece.text.split('\n\n', 1)[0]!)
    if (last && isAlone && !hasOwnLead && piece.kind !== 'rows' && areNeighbours(lines, last, piece))
      result[result.length - 1] = joined(lines, last, piece)
    else result.push(piece)
  }
  return result
}

/**
 * Splits lines into blocks at empty lines, headings and rules. A block with a code fence counts as code, whatever
 * else it contains.
 */
function blocksOf(lines: readonly string[]): Piece[] {
  const blocks: Piece[] = []
  let from = 0
  const end = (to: number): void => {
    if (to > from) blocks.push(blockOf(lines, from, to))
  }
  for (let start = 0; start < lines.length; ) {
    if (lines[start]!.trim() === '') {
      start++
      continue
    }
    let stop = start
    while (stop < lines.length && lines[stop]!.trim() !== '') stop++
    const isCode = lines.slice(start, stop).some((line) => FENCE.test(line))
    from = start
    for (let at = start; at < stop && !isCode; at++) {
      if (!HEADING.test(lines[at]!) && !RULE.test(lines[at]!)) continue
      end(at)
      from = at + 1
    }
    end(stop)
    start = stop
  }
  return blocks
}

function blockOf(lines: readonly string[], from: number, to: number): Piece {
  const own = lines.slice(from, to)
  const text = textOfLines(lines, from, to)
  if (own.some((line) => FENCE.test(line))) return { kind: 'code', from, to, text }
  if (own.some((line) => ITEM.test(line))) return { kind: 'list', from, to, text }
  const areRows = own.length > 1 && (own.every((line) => ROW.test(line)) || tableOf(own) !== null)
  return { kind: areRows ? 'rows' : 'prose', from, to, text }
}
