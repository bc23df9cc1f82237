import snowball from 'snowball-stemmers'
import type { IndexedChunk } from '../../server/knowledge/search/passage.ts'

const ALGORITHMS: Record<string, string> = {
  en: 'english',
  de: 'german',
  fr: 'french',
  es: 'spanish',
  it: 'italian',
  nl: 'dutch',
  pt: 'portuguese',
  ru: 'russian',
}

/** Plain BM25 over stems of headings and text, as the baseline for the service. */
export function plainBm25(
  chunks: readonly IndexedChunk[],
  language: string,
): (question: string, limit: number) => IndexedChunk[] {
  const stemmer = ALGORITHMS[language] ? snowball.newStemmer(ALGORITHMS[language]) : null
  const termsOf = (text: string): string[] => {
    const words =
      text
        .normalize('NFKC')
        .toLowerCase()
        .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
    return words.flatMap((word) => {
      if (stemmer && word.length < 50) return [stemmer.stem(word)]
      if (!/[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}]/u.test(word)) return [word]
      const letters = [...word]
      return letters.length === 1 ? letters : letters.slice(1).map((letter, i) => letters[i]! + letter)
    })
  }
  const documents = chunks.map((chunk) => {
    const counts = new Map<string, number>()
    const terms = termsOf([chunk.sourceName, ...chunk.headingPath, chunk.text].join('\n'))
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
    return { chunk, counts, length: terms.length }
  })
  const average = documents.reduce((sum, { length }) => sum + length, 0) / documents.length
  return (question, limit) => {
    const scores = documents.map(() => 0)
    for (const term of new Set(termsOf(question))) {
      const found = documents.filter(({ counts }) => counts.has(term)).length
      const idf = Math.log(1 + (documents.length - found + 0.5) / (found + 0.5))
      for (const [i, { counts, length }] of documents.entries()) {
        const count = counts.get(term) ?? 0
        scores[i]! += (idf * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * length) / average))
      }
    }
    return documents
      .map(({ chunk }, i) => ({ chunk, score: scores[i]! }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, limit)
      .map(({ chunk }) => chunk)
  }
}
