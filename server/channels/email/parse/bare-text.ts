/** What stands between the tags of HTML, scripts and styles left out; entities stay. In linear time, whatever comes. */
export function bareText(html: string): string {
  const parts: string[] = []
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf('<', at)
    const end = open === -1 ? -1 : html.indexOf('>', open)
    // What is opened and never closed is no tag.
    if (end === -1) return `${parts.join(' ')} ${html.slice(at)}`
    parts.push(html.slice(at, open))
    at = end + 1
    const name = /^<(script|style)\b/i.exec(html.slice(open, open + 8))?.[1]
    if (name) at = endOf(html, name, at)
  }
  return parts.join(' ')
}

/** Where the end tag begins; without one, the end of it all. */
function endOf(html: string, name: string, from: number): number {
  const close = new RegExp(`</${name}`, 'gi')
  close.lastIndex = from
  return close.exec(html)?.index ?? html.length
}
