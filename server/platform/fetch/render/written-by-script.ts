import { endOfRawText } from '../../text/html/end-of-raw-text.ts'

const ENOUGH = 200
// The content of these elements is not shown, or only where scripts do not run.
const hidden = new Set('script style noscript template title textarea svg iframe select'.split(' '))
const data = /\btype\s*=\s*["']?(?:application\/(?:ld\+)?json|text\/(?:template|html|x-))/i
const MAX_TAG_LENGTH = 2_000

/**
 * Returns whether a page must be rendered by a browser: it has scripts, and shows fewer than 200 characters of text
 * without them. Takes linear time.
 */
export function isWrittenByScript(html: string): boolean {
  const { characters, scripts } = shownWithoutScripts(html)
  return scripts > 0 && characters < ENOUGH
}

/** Counts the characters that a page shows without its scripts, up to the number that is enough. */
export const shownCharacters = (html: string): number =>
  Math.min(shownWithoutScripts(html).characters, ENOUGH)

/** Returns whether a page shows as much text as one that needs no browser. */
export const hasMuchText = (html: string): boolean => shownCharacters(html) === ENOUGH

/** Counting stops as soon as there is enough. */
function shownWithoutScripts(html: string): { characters: number; scripts: number } {
  let characters = 0
  let scripts = 0
  for (let at = 0; at < html.length && characters < ENOUGH; ) {
    const open = html.indexOf('<', at)
    characters += lengthOf(html.slice(at, open === -1 ? undefined : open))
    if (open === -1) break
    const isComment = html.startsWith('<!--', open)
    const end = isComment ? html.indexOf('-->', open + 4) : html.indexOf('>', open)
    if (end === -1) break
    at = end + 1
    if (isComment) continue
    const tag = html.slice(open, Math.min(end, open + MAX_TAG_LENGTH))
    const name = /^<([a-z]+)(?![^\s/])/i.exec(tag)?.[1]?.toLowerCase() ?? ''
    if (name === 'script' && !data.test(tag)) scripts += 1
    if (hidden.has(name)) at = endOfRawText(html, name, at)
  }
  return { characters, scripts }
}

const lengthOf = (text: string): number => text.replace(/\s+/g, ' ').trim().length
