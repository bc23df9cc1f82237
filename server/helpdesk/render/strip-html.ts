/** What stands inside of these is no text for a reader. */
const UNSEEN = new Set(
  'script style title textarea noscript template iframe object svg math head xmp'.split(' '),
)
const TAG = /<(\/?)([a-z][a-z\d-]*)(?:\s(?:[^<>"']|"[^"<>]*"|'[^'<>]*')*|\/)?>/iy
const AUTOLINK = /<(?:https?:\/\/|mailto:)[^\s<>]+>|<[^\s<>@:]+@[^\s<>@:]+>/iy
const FENCE = /^ {0,3}(`{3,}|~{3,})/

/** Markdown without the HTML in it; code stays as it is. Tags go, and with some of them what they hold. */
export function stripHtml(markdown: string): string {
  const out: string[] = []
  let fence: string | null = null
  let open = ''
  for (const line of markdown.split('\n')) {
    const mark = FENCE.exec(line)?.[1] ?? null
    if (fence !== null) {
      if (mark?.startsWith(fence) && line.trim() === mark) fence = null
      out.push(line)
    } else if (mark !== null && open === '') {
      fence = mark
      out.push(line)
    } else {
      const stripped = stripLine(line, open)
      open = stripped.open
      // A line of nothing but tags would part what stands around it.
      if (stripped.text.trim() !== '' || line.trim() === '') out.push(stripped.text)
    }
  }
  return out.join('\n')
}

/** `open`: what the rest is inside of: the name of an element, or `!` of a comment. */
function stripLine(line: string, before: string): { text: string; open: string } {
  let open = before
  let text = ''
  for (let at = 0; at < line.length; ) {
    if (open !== '') {
      const end = open === '!' ? line.indexOf('-->', at) : line.toLowerCase().indexOf(`</${open}`, at)
      if (end === -1) break
      const close = line.indexOf('>', end)
      at = close === -1 ? line.length : close + 1
      open = ''
      continue
    }
    const next = line.slice(at).search(/[<`\\]/)
    if (next === -1) {
      text += line.slice(at)
      break
    }
    text += line.slice(at, at + next)
    at += next
    const piece = pieceAt(line, at)
    text += piece.text
    at += piece.length
    open = piece.open
  }
  return { text, open }
}

function pieceAt(line: string, at: number): { text: string; length: number; open: string } {
  const kept = (length: number) => ({ text: line.slice(at, at + length), length, open: '' })
  if (line[at] === '\\') return kept(2)
  if (line[at] === '`') {
    const run = /^`+/.exec(line.slice(at))?.[0] ?? '`'
    const end = line.indexOf(run, at + run.length)
    return kept(end === -1 ? run.length : end + run.length - at)
  }
  if (line.startsWith('<!--', at)) return { text: '', length: 4, open: '!' }
  AUTOLINK.lastIndex = at
  const link = AUTOLINK.exec(line)
  if (link) return kept(link[0].length)
  TAG.lastIndex = at
  const tag = TAG.exec(line)
  if (!tag) {
    // A tag over several lines, or one that never ends: its words go as far as the line goes.
    const isTag = /^<(?:\/?[a-z][a-z\d-]*(?:\s|$|\/)|[!?])/i.test(line.slice(at)) && !line.includes('>', at)
    return isTag ? { text: '', length: line.length - at, open: '' } : kept(1)
  }
  const name = tag[2]?.toLowerCase() ?? ''
  const isOpen = tag[1] === '' && UNSEEN.has(name) && !tag[0].endsWith('/>')
  return { text: name === 'br' ? '\n' : '', length: tag[0].length, open: isOpen ? name : '' }
}
