const LONGEST = 80

/** A conversation's title from the words of its first message: one line, at most 80 characters. */
export function titleFromWords(message: string): string {
  const line = message.replace(/\s+/g, ' ').trim()
  if (line.length <= LONGEST) return line
  const cut = line.slice(0, LONGEST - 1)
  const atWord = cut.lastIndexOf(' ')
  // Languages without spaces, and monsters, are cut where the room ends, but never inside a character.
  return `${(atWord > LONGEST / 2 ? cut.slice(0, atWord) : cut).toWellFormed().replace(/\uFFFD$/, '')}…`
}
