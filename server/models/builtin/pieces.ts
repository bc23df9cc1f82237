/** A unit that is only quoted as a whole: a paragraph, a list with its introduction, table rows or a code block. */
export type Piece = { text: string; kind: 'prose' | 'list' | 'rows' | 'code' }

const ITEM = /^\s*(?:[-*+•‣▪]|\(?\d{1,3}[.)]|[a-z]\))\s/
const ROW = /^[^\s:;][^:;]{0,80}: [^;]+(?:; [^:;]{1,80}: |$)|^\S.* \| /
const FENCE = /^\s*(?:```|~~~)/
const LEADS_ON = /[:：]\s*$/
const HEADING = /^#{1,6}\s/
/** A paragraph as short as this is hardly understood without the one that follows. */
const SHORT = 110

/** A passage's text in pieces, in order. Headings and rules are none. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = []
  for (const { text: block, kind } of blocksOf(text)) {
    const last = pieces.at(-1)
    const isLed = LEADS_ON.test(last?.text ?? '') && (last?.kind === 'prose' || kind === 'code')
    const goesOn = last?.kind === 'list' && kind === 'list'
    if (last && (isLed || goesOn)) {
      last.text += goesOn ? `\n${block}` : `\n\n${block}`
      if (isLed) last.kind = kind
    } else pieces.push({ text: block, kind })
  }
  return joinShort(pieces)
}

/** A line like a term or a sentence that announces something is quoted with what comes after it. */
function joinShort(pieces: Piece[]): Piece[] {
  const joined: Piece[] = []
  for (const piece of pieces) {
    const last = joined.at(-1)
    const isAlone = last?.kind === 'prose' && last.text.length < SHORT
    const hasOwnLead = piece.kind !== 'prose' && LEADS_ON.test(piece.text.split('\n\n', 1)[0]!)
    if (last && isAlone && !hasOwnLead && piece.kind !== 'rows') {
      last.text += `\n\n${piece.text}`
      last.kind = piece.kind
    } else joined.push({ ...piece })
  }
  return joined
}

function blocksOf(text: string): Piece[] {
  const blocks: Piece[] = []
  for (const block of text.split(/\n{2,}/)) {
    const lines = block.split('\n').filter((line) => line.trim() !== '')
    const shown = lines.filter((line) => !HEADING.test(line) && /[\p{L}\p{N}`]/u.test(line))
    if (shown.length === 0) continue
    if (lines.some((line) => FENCE.test(line))) {
      blocks.push({ text: fenced(lines), kind: 'code' })
      continue
    }
    const items = shown.filter((line) => ITEM.test(line)).length
    const rows = shown.filter((line) => ROW.test(line)).length
    const kind = items > 0 ? 'list' : shown.length > 1 && rows === shown.length ? 'rows' : 'prose'
    blocks.push({ text: shown.join('\n'), kind })
  }
  return blocks
}

/** Code of which the passage holds a part has one of its two fences. */
function fenced(lines: readonly string[]): string {
  const fences = lines.filter((line) => FENCE.test(line)).length
  if (fences % 2 === 0) return lines.join('\n')
  return FENCE.test(lines[0]!) ? [...lines, '```'].join('\n') : ['```', ...lines].join('\n')
}
