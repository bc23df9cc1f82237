import { wordsAndPairs } from '../../../text/languages/dense-script.ts'
import { splitSentences } from '../../../text/words/sentences.ts'
import { visibleText } from '../../../text/words/visible-text.ts'
import { splitWords } from '../../../text/words/words.ts'
import type { IndexedChunk } from '../passage.ts'
import type { AnalysedQuestion } from '../question/analyse-question.ts'
import type { WordMatcher } from '../question/match-words.ts'
import { withNameParts, withoutArguments } from '../question/split-identifiers.ts'

/**
 * Returns how well the chunk matches the pair of neighbouring words that it matches worst, from 0 to 1: the
 * similarity of the less similar word in the best sentence. A washing machine is neither washing nor a machine.
 * Returns null if there is no pair.
 */
export function worstPair(
  chunk: IndexedChunk,
  { pairs, language }: AnalysedQuestion,
  matcher: WordMatcher,
): number | null {
  if (pairs.length === 0) return null
  const numbered = (text: string) => matcher.idsOf(wordsAndPairs(splitWords(withNameParts(text))))
  const heading = matcher.best([numbered(withoutArguments(chunk.headingPath.at(-1) ?? ''))])
  const sentences = [...(chunk.questions ?? []), ...splitSentences(visibleText(chunk.text), language)]
  const matched = sentences.map((sentence) => matcher.best([numbered(sentence)]))
  const shares = pairs.map(([first, second]) => {
    const likeness = (place: number, said: Float32Array | undefined): number =>
      Math.max(heading[place]!, said?.[place] ?? 0)
    const inSentences = (matched.length > 0 ? matched : [undefined]).map((said) =>
      Math.min(likeness(first, said), likeness(second, said)),
    )
    return Math.max(...inSentences)
  })
  return Math.min(...shares)
}
