const SLOT = /\{\{\s*([\p{L}\p{N}_.$-]+)\s*\}\}/gu

/** A piece of a template: text as it stands, or the name of the input that goes there. */
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

/** The template with what `insert` makes of each slot's name. */
export const fill = (template: string, insert: (slot: string) => string): string =>
  template.replace(SLOT, (_whole, slot: string) => insert(slot))

/** Says which slot is no input, or null; braces that name nothing are most likely a mistyped slot. */
export function refuseSlots(template: string, inputs: ReadonlySet<string>): string | null {
  for (const piece of piecesOf(template)) {
    if ('slot' in piece && !inputs.has(piece.slot)) {
      return `{{${piece.slot}}} is not a property of inputs. Add it there or check its spelling.`
    }
    if ('text' in piece && piece.text.includes('{{')) {
      return 'Holds {{ without the name of an input and }} after it.'
    }
  }
  return null
}

/** The properties that the schema of an action's inputs names. */
export function inputNames(inputs: Record<string, unknown>): Set<string> {
  const { properties } = inputs
  return new Set(typeof properties === 'object' && properties !== null ? Object.keys(properties) : [])
}

/** How a value reads inside a text: nothing for one that is missing, JSON for lists and objects. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.toWellFormed()
}
