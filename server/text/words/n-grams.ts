/**
 * Returns the distinct character n-grams (3 to 5) of a word with both ends marked, so that `cat` and `cathedral`
 * differ.
 */
export function characterNGrams(word: string, shortest = 3, longest = 5): string[] {
  const marked = `_${word}_`
  const grams = new Set<string>()
  for (let size = shortest; size <= longest; size++) {
    for (let start = 0; start + size <= marked.length; start++) grams.add(marked.slice(start, start + size))
  }
  return [...grams]
}
