/**
 * Matches code, escapes, images, links, bold, strikethrough, italic, line breaks and citations, in this order of
 * precedence. Visitors influence what the model writes, so matching has to stay linear: no two alternatives may scan the
 * same characters. A URL therefore ends at an opening bracket, which a URL can only contain percent-encoded.
 */
const MARKS =
  /(`[^`\n]+`)|\\([\\`*_{}[\]()#+.!~>|-])|!?\[([^[\]\n]*)\]\(([^)\s[]{1,2000})(?:\s[^)\n]{0,500})?\)|\*\*([^*\n]+)\*\*|__([^_\n]+)__|~~([^~\n]+)~~|\*([^*\s][^*\n]*)\*|(<br\s*\/?>)|( ?\[\d{1,3}(?:\s*,\s*\d{1,3})*\](?!\())/gi

/**
 * Converts Markdown to the markup of WhatsApp: *bold*, _italic_, ~strikethrough~ and unchanged code. Headings become
 * bold, links are followed by their address, and table rows become lines of cells. Citation markers such as [1] are
 * removed, because there are no sources.
 */
export function formatText(markdown: string, { dropCitations }: { dropCitations: boolean }): string {
  let inCode = false
  const lines = withoutGaps(markdown.replaceAll('\r\n', '\n'))
    .split('\n')
    .flatMap((line) => {
      if (/^\s*(```|~~~)/.test(line)) {
        inCode = !inCode
        return ['```']
      }
      return inCode ? [line] : formatLine(line, dropCitations)
    })
  return withoutGaps(lines.join('\n')).trim()
}

const withoutGaps = (text: string): string => text.replace(/\n{3,}/g, '\n\n')

/** Matches lines that may contain markup. */
const SIGNS = /[`\\![\]*_~<|#+-]/

function formatLine(line: string, dropCitations: boolean): string[] {
  if (!SIGNS.test(line)) return [line]
  const bare = line.trim()
  if (/^(-{3,}|\*{3,}|_{3,})$/.test(bare)) return ['']
  // Matches the line between the head and the rows of a table.
  if (bare.includes('-') && bare.includes('|') && /^[|:\s-]+$/.test(bare)) return []
  const inline = (text: string): string => formatInline(text, dropCitations)
  const heading = /^\s{0,3}#{1,6}\s+(.*)$/s.exec(line)
  if (heading)
    return [
      `*${inline(heading[1] ?? '')
        .replaceAll('*', '')
        .trim()}*`,
    ]
  if (bare.startsWith('|')) {
    const cells = bare.replace(/^\||\|$/g, '').split('|')
    return [inline(cells.map((cell) => cell.trim()).join(' | '))]
  }
  const bullet = /^(\s*)[*+-]\s+(.*)$/s.exec(line)
  return [bullet ? `${bullet[1]}- ${inline(bullet[2] ?? '')}` : inline(line)]
}

function formatInline(line: string, dropCitations: boolean): string {
  return line.replace(
    MARKS,
    (whole, code, escaped, words, url, bold, strong, struck, italic, lineBreak, citation) => {
      if (code !== undefined) return code
      if (escaped !== undefined) return escaped
      if (url !== undefined) return words === '' || words === url ? url : `${words} (${url})`
      if (bold !== undefined || strong !== undefined) return `*${bold ?? strong}*`
      if (struck !== undefined) return `~${struck}~`
      if (italic !== undefined) return `_${italic}_`
      if (lineBreak !== undefined) return '\n'
      return citation !== undefined && dropCitations ? '' : whole
    },
  )
}
