import { Parser } from 'htmlparser2'

// The time of what reads the tree grows faster than linearly with these; readable pages stay far below them.
const DEEPEST = 200
const MAX_ELEMENTS = 50_000
const MAX_ATTRIBUTES = 1_000
/** The characters that are read before the reading may stop. */
const STEP = 65_536

/** Returns a sentence about why an HTML page would take too long to read, or null. Takes linear time. */
export const tooComplex = (html: string): string | null => {
  const exceeded = exceededLimit(html, { elements: MAX_ELEMENTS, depth: DEEPEST, xmlMode: false })
  if (exceeded === 'elements') return `The page has more than ${MAX_ELEMENTS} elements.`
  if (exceeded === 'attributes') return `An element of the page has more than ${MAX_ATTRIBUTES} attributes.`
  return exceeded && `The elements of the page are nested more than ${DEEPEST} levels deep.`
}

type Exceeded = 'elements' | 'depth' | 'attributes'

/** Returns which limit the tree of a text exceeds. The elements are counted as the parser of trees meets them. */
export function exceededLimit(
  text: string,
  limits: { elements: number; depth: number; xmlMode: boolean },
): Exceeded | null {
  let elements = 0
  let depth = 0
  let attributes = 0
  let exceeded: Exceeded | null = null
  const parser = new Parser(
    {
      onattribute: () => {
        attributes += 1
        if (attributes > MAX_ATTRIBUTES) exceeded ??= 'attributes'
        if (exceeded) parser.pause()
      },
      onopentag: () => {
        attributes = 0
        elements += 1
        depth += 1
        if (elements > limits.elements) exceeded ??= 'elements'
        else if (depth > limits.depth) exceeded ??= 'depth'
        // The end of the document would close all open elements, which takes long as well.
        if (exceeded) parser.pause()
      },
      onclosetag: () => {
        depth -= 1
      },
    },
    { xmlMode: limits.xmlMode },
  )
  for (let at = 0; at < text.length && !exceeded; at += STEP) parser.write(text.slice(at, at + STEP))
  return exceeded
}
