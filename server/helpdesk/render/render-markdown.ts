import { blocks } from './blocks.ts'
import { stripHtml } from './strip-html.ts'

const DEFINITION =
  /^ {0,3}\[([^\]\n]{1,200})\]:\s*<?([^\s<>]{1,2000})>?(?:\s+(?:"[^"]*"|'[^']*'|\([^)]*\)))?\s*$/
const FENCE = /^ {0,3}(?:`{3,}|~{3,})/

/**
 * GitHub-flavoured Markdown as HTML (service-api, "POST …/messages"): single newlines are line breaks, HTML in it is
 * stripped. Every tag of the result is one that this folder writes, and every text is escaped.
 */
export function renderMarkdown(markdown: string): string {
  const links = new Map<string, string>()
  let inCode = false
  const lines = stripHtml(markdown.replace(/\r\n?/g, '\n').replace(/\t/g, '    '))
    .split('\n')
    .filter((line) => {
      if (FENCE.test(line)) inCode = !inCode
      const definition = inCode ? null : DEFINITION.exec(line)
      if (!definition) return true
      const label = definition[1]?.trim().toLowerCase() ?? ''
      if (!links.has(label)) links.set(label, definition[2] ?? '')
      return false
    })
  return blocks(lines, links)
}

const ENTITIES =
  /&(?:nbsp|shy|zwj|zwnj|ensp|emsp|thinsp|ZeroWidthSpace|Tab|NewLine|#(?:x0*(?:20|a0|ad|200[0-9a-f]|feff|a|9|d)|0*(?:32|160|173|820[0-7]|65279|10|9|13)));/gi
const INVISIBLE =
  /\s|\u034f|[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0]/gu

/** Whether the HTML shows a reader nothing. */
export const showsNothing = (html: string): boolean =>
  html
    .replace(/<[^>]*>/g, '')
    .replace(ENTITIES, '')
    .replace(INVISIBLE, '') === ''
