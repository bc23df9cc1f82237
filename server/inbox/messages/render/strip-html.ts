/** The elements whose content is not text for a reader. */
const UNSEEN = new Set(
  'script style title textarea noscript template iframe object svg math head xmp'.split(' '),
)
const TAG = /<(\/?)([a-z][a-z\d-]*)(?:\s(?:[^<>"']|"[^"<>]*"|'[^'<>]*')*|\/)?>/iy
const AUTOLINK = /<(?:https?:\/\/|mailto:)[^\s<>]+>|<[^\s<>@:]+@[^\s<>@:]+>/iy
const MARK = /[<`\\]/g
const BACKTICKS = /`+/y
const OPEN_TAG = /<(?:\/?[a-z][a-z\d-]*(?:\s|$|\/)|[!?])/iy
const FENCE = /^ {0,3}(`{3,}|~{3,})/

/** Removes HTML from Markdown, but not from code. Of some elements, the content is removed, too. */
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
      // A line of nothing but tags would separate the paragraphs around it.
      if (stripped.text.trim() !== '' || line.trim() === '') out.push(stripped.text)
    }
  }
  return out.join('\n')
}

/** `open` is the element that the rest of the line is in, or `!` in a comment. */
function stripLine(line: string, before: string): { text: string; open: string } {
  let open = before
  let text = ''
  let small: string | undefined
  const closingOf = (name: string, from: number): number => {
    // Some letters are longer in lower case, which would shift all later positions.
    small ??= line.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
    return small.indexOf(`</${name}`, from)
  }
  // It is searched once, because a line may have many tags that are never closed.
  const lastEnd = line.lastIndexOf('>')
  for (let at = 0; at < line.length; ) {
    if (open !== '') {
      const end = open === '!' ? line.indexOf('-->', at) : closingOf(open, at)
      if (end === -1) break
      const close = line.indexOf('>', end)
      at = close === -1 ? line.length : close + 1
      open = ''
      continue
    }
    MARK.lastIndex = at
    const next = MARK.exec(line)?.index
    if (next === undefined) {
      text += line.slice(at)
      break
    }
    text += line.slice(at, next)
    at = next
    const piece = pieceAt(line, at, lastEnd)
    text += piece.text
    at += piece.length
    open = piece.open
  }
  return { text, open }
}

function pieceAt(line: string, at: number, lastEnd: number): { text: string; length: number; open: string } {
  const kept = (length: number) => ({ text: line.slice(at, at + length), length, open: '' })
  if (line[at] === '\\') return kept(2)
  if (line[at] === '`') {
    BACKTICKS.lastIndex = at
    const run = BACKTICKS.exec(line)?.[0] ?? '`'
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
    // The tag continues on the next line or is never closed. It is removed up to the end of the line.
    OPEN_TAG.lastIndex = at
    const isTag = lastEnd < at && OPEN_TAG.test(line)
    return isTag ? { text: '', length: line.length - at, open: '' } : kept(1)
  }
  const name = tag[2]?.toLowerCase() ?? ''
  const isOpen = tag[1] === '' && UNSEEN.has(name) && !tag[0].endsWith('/>')
  return { text: name === 'br' ? '\n' : '', length: tag[0].length, open: isOpen ? name : '' }
}
