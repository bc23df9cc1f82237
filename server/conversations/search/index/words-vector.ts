import { createYielder } from '../../../platform/concurrency/yield-to-event-loop.ts'
import type { Stemmers } from './stemmers.ts'
import { tokensOf } from './text-tokens.ts'
import { LONG, quoted } from './ts-text.ts'

/** The limits of a tsvector: the last position of a word, and the most positions of one word. */
const LAST_PLACE = 16_383
const PLACES_OF_A_WORD = 255
/** The most distinct terms of one conversation, because a tsvector holds 1 MB. Further terms are not found. */
export const MAX_TERMS = 40_000

/**
 * Returns the text of a tsvector with the words of a conversation, in which words of the title have more weight. If it
 * is too long with positions, or `isLong` is already set, it only holds the words. Yields to other work in between.
 */
export async function wordsVector(
  title: string | null,
  messages: readonly string[],
  stem: Stemmers,
  isLong: boolean,
): Promise<string> {
  const breathe = createYielder()
  const places = new Map<string, string[]>()
  let place = 0
  let hasPlaces = !isLong
  for (const [text, tokens] of (await tokensOf([title ?? '', ...messages], stem)).entries()) {
    for (const { terms } of tokens) {
      place++
      for (const term of terms) {
        const known = places.get(term)
        if (known && known.length < PLACES_OF_A_WORD) known.push(text === 0 ? `${place}A` : String(place))
        else if (known) hasPlaces = false
        else if (places.size < MAX_TERMS) places.set(term, [text === 0 ? `${place}A` : String(place)])
      }
      const pause = breathe()
      if (pause) await pause
    }
    // A phrase does not continue in the next message.
    place++
  }
  if (place > LAST_PLACE) hasPlaces = false
  const words = hasPlaces ? [] : [quoted(LONG)]
  for (const [term, at] of places) {
    words.push(hasPlaces ? `${quoted(term)}:${at.join(',')}` : quoted(term))
    const pause = breathe()
    if (pause) await pause
  }
  return words.join(' ')
}
