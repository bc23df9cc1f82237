/**
 * Returns the text between the tags of HTML, without scripts and styles. Entities are kept. It takes linear time for
 * any input.
 */
export function bareText(html: string): string {
  const parts: string[] = []
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf('<', at)
    const end = open === -1 ? -1 : html.indexOf('>', open)
    // A tag that is never closed is text.
    if (end === -1) return `${parts.join(' ')} ${html.slice(at)}`
    parts.push(html.slice(at, open))
    at = end + 1
    const name = /^<(script|style)\b/i.exec(html.slice(open, open + 8))?.[1]
    if (name) at = endOf(html, name, at)
  }
  return parts.join(' ')
}

/** Returns the index of the end tag, or of the end of the text. */
function endOf(html: string, name: string, from: number): number {
  const close = new RegExp(`</${name}`, 'gi')
  close.lastIndex = from
  return close.exec(html)?.index ?? html.length
}
