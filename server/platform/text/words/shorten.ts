/** Returns the text as one line of at most `longest` characters, the last of which shows that something is missing. */
export function shorten(text: string, longest: number): string {
  const line = oneLine(text)
  return line.length <= longest ? line : `${whole(line.slice(0, longest - 1))}…`
}

/** Does the same, but cuts between words unless one of them takes up more than half of the line. */
export function shortenAtWord(text: string, longest: number): string {
  const line = oneLine(text)
  if (line.length <= longest) return line
  const cut = line.slice(0, longest - 1)
  const atWord = cut.lastIndexOf(' ')
  return `${whole(atWord > longest / 2 ? cut.slice(0, atWord) : cut)}…`
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** Removes half a character at the end. */
const whole = (text: string): string => text.toWellFormed().replace(/\uFFFD$/, '')
