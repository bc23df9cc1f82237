/** The places to cut a text, the best first. */
const BREAKS = ['\n\n', '\n', '. ', ' ']

/** Splits a text into pieces of at most `longest` characters, between paragraphs, lines, sentences or words. */
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
    // A cut within a paragraph is better than a piece of a few words.
    if (at >= longest / 2) return at + mark.length
  }
  // A surrogate pair is never split.
  return /[\ud800-\udbff]/.test(text.charAt(longest - 1)) ? longest - 1 : longest
}
