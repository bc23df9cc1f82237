/**
 * Code, escapes, images, links, bold, struck out, italic, line breaks, citations: in this order of precedence. No part
 * may run into the next try of itself, or into its neighbour: people choose what the model writes.
 */
const MARKS =
  /(`[^`\n]+`)|\\([\\`*_{}[\]()#+.!~>|-])|!?\[([^[\]\n]*)\]\(([^)\s]{1,2000})(?:\s[^)\n]{0,500})?\)|\*\*([^*\n]+)\*\*|__([^_\n]+)__|~~([^~\n]+)~~|\*([^*\s][^*\n]*)\*|(<br\s*\/?>)|( ?\[\d{1,3}(?:\s*,\s*\d{1,3})*\](?!\())/gi

/**
 * Markdown as the channel marks text: *bold*, _italic_, ~struck out~, code as it is. Headings become bold, links keep
 * their address behind their words, rows of tables their cells. Citation markers such as [1] have no sources there.
 */
export function formatText(markdown: string, { dropCitations }: { dropCitations: boolean }): string {
  let inCode = false
  const lines = markdown.split(/\r?\n/).flatMap((line) => {
    if (/^\s*(```|~~~)/.test(line)) {
      inCode = !inCode
      return ['```']
    }
    return inCode ? [line] : formatLine(line, dropCitations)
  })
  return lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

function formatLine(line: string, dropCitations: boolean): string[] {
  const bare = line.trim()
  if (/^(-{3,}|\*{3,}|_{3,})$/.test(bare)) return ['']
  // Between the head and the rows of a table.
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
