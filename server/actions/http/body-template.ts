import { MIMEType } from 'node:util'
import { fill, piecesOf, textOf } from './template.ts'

type Piece = { text: string } | { slot: string; quoted: boolean }
type Kind = 'json' | 'form' | 'other'

/** Returns why a body template cannot be used with this Content-Type (undefined: JSON), or null if it can. */
export function refuseBody(template: string, contentType: string | undefined): string | null {
  const kind = kindOf(contentType)
  if (kind === 'json' && !jsonPieces(template)) {
    return 'Is not JSON once its slots are filled. For another format set the header Content-Type.'
  }
  if (kind === 'other' && piecesOf(template).length > 1) {
    return 'Slots are only allowed in JSON and application/x-www-form-urlencoded.'
  }
  return null
}

/**
 * Returns the body with its slots filled. In JSON, a slot inside a string becomes escaped text, and a slot that is a
 * whole value becomes the value itself. In a form, values are percent-encoded. Bodies of other types have no slots.
 */
export function fillBody(
  template: string,
  contentType: string | undefined,
  read: (slot: string) => unknown,
): string {
  const kind = kindOf(contentType)
  if (kind === 'other') return template
  if (kind === 'form') return fill(template, (slot) => encodeURIComponent(textOf(read(slot))))
  return (jsonPieces(template) ?? [])
    .map((piece) => {
      if ('text' in piece) return piece.text
      const value = read(piece.slot)
      return piece.quoted ? JSON.stringify(textOf(value)).slice(1, -1) : JSON.stringify(value ?? null)
    })
    .join('')
}

function kindOf(contentType: string | undefined): Kind {
  if (contentType === undefined) return 'json'
  try {
    const { essence } = new MIMEType(contentType)
    if (essence === 'application/x-www-form-urlencoded') return 'form'
    return essence === 'application/json' || essence.endsWith('+json') ? 'json' : 'other'
  } catch {
    return 'other'
  }
}

/**
 * Returns the pieces and whether each slot is inside a string; null when the result is not JSON for every value of the
 * slots.
 */
function jsonPieces(template: string): Piece[] | null {
  let quoted = false
  const pieces = piecesOf(template).map((piece): Piece => {
    if ('slot' in piece) return { ...piece, quoted }
    quoted = isQuotedAfter(piece.text, quoted)
    return piece
  })
  // "x" completes no escape sequence, and null completes no keyword or number, so a slot in the middle of one is
  // rejected.
  const sample = pieces.map((piece) => ('text' in piece ? piece.text : piece.quoted ? 'x' : 'null')).join('')
  try {
    JSON.parse(sample)
    return pieces
  } catch {
    return null
  }
}

function isQuotedAfter(text: string, quotedBefore: boolean): boolean {
  let quoted = quotedBefore
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') quoted = !quoted
    else if (text[at] === '\\' && quoted) at++
  }
  return quoted
}
