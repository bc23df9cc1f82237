const SLOT = /\{\{\s*([\p{L}\p{N}_.$-]+)\s*\}\}/gu

/** A piece of a template: literal text, or the name of the input that replaces it. */
type Piece = { text: string } | { slot: string }

export function piecesOf(template: string): Piece[] {
  const pieces: Piece[] = []
  let end = 0
  for (const { 0: whole, 1: slot = '', index } of template.matchAll(SLOT)) {
    pieces.push({ text: template.slice(end, index) }, { slot })
    end = index + whole.length
  }
  return [...pieces, { text: template.slice(end) }]
}

/** Returns the template with each slot replaced by what `insert` returns for its name. */
export const fill = (template: string, insert: (slot: string) => string): string =>
  template.replace(SLOT, (_whole, slot: string) => insert(slot))

/** Returns which slot is not an input, or null. Braces without a known name are most likely a mistyped slot. */
export function refuseSlots(template: string, inputs: ReadonlySet<string>): string | null {
  for (const piece of piecesOf(template)) {
    if ('slot' in piece && !inputs.has(piece.slot)) {
      return `{{${piece.slot}}} is not a property of inputs. Add it there or check its spelling.`
    }
    if ('text' in piece && piece.text.includes('{{')) {
      return 'Contains {{ without the name of an input and }} after it.'
    }
  }
  return null
}

/** Returns the properties that the schema of an action's inputs defines. */
export function inputNames(inputs: Record<string, unknown>): Set<string> {
  const { properties } = inputs
  return new Set(typeof properties === 'object' && properties !== null ? Object.keys(properties) : [])
}

/** Returns a value as part of a text: an empty string if it is missing, and JSON for lists and objects. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.toWellFormed()
}
