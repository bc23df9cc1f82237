/** Where a text is best cut, best first. */
const BREAKS = ['\n\n', '\n', '. ', ' ']

/** A text in pieces of at most `longest` characters, cut between paragraphs, lines, sentences or words. */
export function splitText(text: string, longest: number): string[] {
  const pieces: string[] = []
  let rest = text.trim()
  while (rest.length > longest) {
    const at = cutAt(rest, longest)
    pieces.push(rest.slice(0, at).trimEnd())
    rest = rest.slice(at).trimStart()
  }
  if (rest !== '') pieces.push(rest)
  return pieces
}

function cutAt(text: string, longest: number): number {
  for (const mark of BREAKS) {
    const at = text.lastIndexOf(mark, longest - mark.length)
    // Rather in the middle of a paragraph than a piece of three words.
    if (at >= longest / 2) return at + mark.length
  }
  // Never between the halves of a surrogate pair.
  return /[\ud800-\udbff]/.test(text.charAt(longest - 1)) ? longest - 1 : longest
}
