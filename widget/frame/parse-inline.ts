import { isArrayIndex } from '../../server/platform/text/rows/array-index.ts'

export type Inline =
  | { type: 'text' | 'code'; text: string }
  | { type: 'break' }
  /** A citation of the n-th source of the answer. */
  | { type: 'cite'; number: number; text: string }
  | { type: 'strong' | 'emphasis'; inline: Inline[] }
  | { type: 'link'; href: string; inline: Inline[] }

/**
 * Matches escapes, code, images and links, bold, italic, bare URLs, citation markers and line ends, in this order of
 * precedence. Every repetition is bounded, so that no text takes long to parse. There are no lookbehinds, because
 * older versions of Safari do not support them.
 */
const MARKS = new RegExp(
  [
    /\\([\\`*_{}[\]()#+\-.!>~|])/,
    /``([^\n]{1,2000}?)``|`([^`\n]{1,2000})`/,
    /!?\[([^[\]]{0,500})\]\(\s{0,3}<?([^\s()<>]{1,2000}(?:\([^\s()<>]{0,200}\)[^\s()<>]{0,500})?)>?(?:\s{1,3}"[^"\n]{0,200}")?\s{0,3}\)/,
    /\*\*(?=\S)([^\n]{0,2000}?\S)\*\*|\b__(?=\S)([^\n]{0,2000}?\S)__\b/,
    /\*(?=[^\s*])([^*\n]{0,1000}?[^\s*])\*(?!\*)|\b_(?=[^\s_])([^_\n]{0,1000}?[^\s_])_\b/,
    /\bhttps?:\/\/[^\s<>"'`)\]]{1,2000}/,
    /[ ]?\[\d{1,3}(?:\s?,\s?\d{1,3}){0,20}\](?!\()/,
    /[ ]{0,8}\n/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
)

/** Parses inline Markdown. */
export function parseInline(text: string, depth = 0): Inline[] {
  const found: Inline[] = []
  const addText = (piece: string): void => {
    if (piece !== '') found.push({ type: 'text', text: piece })
  }
  let end = 0
  for (const match of text.matchAll(MARKS)) {
    const [whole, escaped, code2, code, words, address, bold, bold2, italic, italic2] = match
    addText(text.slice(end, match.index))
    end = match.index + whole.length
    const inner = (piece: string): Inline[] =>
      depth < 4 ? parseInline(piece, depth + 1) : [{ type: 'text', text: piece }]
    if (escaped !== undefined) addText(escaped)
    else if (code2 ?? code) found.push({ type: 'code', text: (code2 ?? code ?? '').trim() })
    else if (address !== undefined) {
      const href = whole.startsWith('!') ? null : safeHref(address)
      const inline = words ? inner(words) : []
      if (href) found.push({ type: 'link', href, inline: inline.length > 0 ? inline : plain(href) })
      else found.push(...inline)
    } else if (bold ?? bold2) found.push({ type: 'strong', inline: inner(bold ?? bold2 ?? '') })
    else if (italic ?? italic2) found.push({ type: 'emphasis', inline: inner(italic ?? italic2 ?? '') })
    else if (whole.startsWith('http')) {
      const trimmed = whole.replace(/[.,;:!?*_]+$/, '')
      const href = safeHref(trimmed)
      if (href) found.push({ type: 'link', href, inline: plain(trimmed) })
      else addText(trimmed)
      addText(whole.slice(trimmed.length))
    } else if (whole.endsWith('\n')) found.push({ type: 'break' })
    else if (isArrayIndex(text.slice(Math.max(0, match.index - 80), match.index), whole.slice(1, -1)))
      addText(whole)
    else {
      const lead = whole.startsWith(' ') ? ' ' : ''
      for (const [at, [number]] of [...whole.matchAll(/\d+/g)].entries())
        found.push({ type: 'cite', number: Number(number), text: `${at === 0 ? lead : ''}[${number}]` })
    }
  }
  addText(text.slice(end))
  return found
}

const plain = (text: string): Inline[] => [{ type: 'text', text }]

/** Returns the normalized URL, or null for one that a chat must not link to. */
export function safeHref(address: string): string | null {
  try {
    const { protocol, href } = new URL(address)
    return ['http:', 'https:', 'mailto:'].includes(protocol) ? href : null
  } catch {
    return null
  }
}

/** Returns the text as it is read aloud. */
export const spokenText = (inline: Inline[]): string =>
  inline
    .map((node) => {
      if (node.type === 'break') return ' '
      if (node.type === 'cite') return ''
      return 'inline' in node ? spokenText(node.inline) : node.text
    })
    .join('')
