import { foldAccents } from '../../../text/words/fold-accents.ts'
import type { AnalysedQuestion } from '../question/analyse-question.ts'
import type { WordIds, WordMatcher } from '../question/match-words.ts'
import { addPlace, createSievedPlaces, placesOf, type SievedPlaces } from '../tables/sieved-places.ts'
import { gramsAt, lettersAt } from '../tables/word-table.ts'
import { inverseFrequency, saturated } from './rank-terms.ts'

/** The letters of a piece. The first piece of a word begins with a mark, so that it is one at the beginning of words. */
const LETTERS = 5
const MARK = 95

/** The weight of a piece of a word that documents use for the same subject, relative to one of the question's word. */
const KIN_PIECES = 0.3

type Fields = { title: WordIds; path: WordIds; text: WordIds }

/**
 * Returns for each chunk its BM25 score by pieces of words, as a share of the highest: pieces are found in compounds, in
 * inflected and in derived words, whatever the stems are. A piece is as rare as the commonest word of the question that
 * has it; the rarity of stop words is estimated from the given chunks alone.
 */
export function sharesByPieces(
  { terms, common }: AnalysedQuestion,
  matcher: WordMatcher,
  relative: (slot: number) => number,
  said: ReadonlyMap<number, Fields>,
): Map<number, number> {
  const asked = [
    ...terms.map(({ word }, place) => ({ word, rarity: matcher.rarities[place]! })),
    ...terms.flatMap(({ kin }, place) =>
      kin.map(({ word }) => ({ word, rarity: KIN_PIECES * matcher.rarities[place]! })),
    ),
    ...raritiesIn(common, matcher, said),
  ]
  const byPiece = createSievedPlaces()
  const weights: number[] = []
  for (const { word, rarity } of asked) {
    for (const piece of piecesOf(codesOf(word))) {
      const [place] = placesOf(byPiece, piece)
      if (place === undefined) addPlace(byPiece, piece, weights.push(rarity) - 1)
      else weights[place] = Math.min(weights[place]!, rarity)
    }
  }
  const placesIn = findPlaces(byPiece, matcher)
  const counts = new Uint16Array(weights.length)
  const scores = [...said].map(([slot, { title, path, text }]) => {
    counts.fill(0)
    for (const ids of [title, path, text])
      for (const id of ids) for (const place of placesIn(id)) counts[place]!++
    let score = 0
    const length = relative(slot)
    for (let place = 0; place < counts.length; place++) {
      if (counts[place]! > 0) score += weights[place]! * saturated(counts[place]!, length)
    }
    return [slot, score] as const
  })
  const most = Math.max(...scores.map(([, score]) => score))
  return new Map(scores.map(([slot, score]) => [slot, most > 0 ? score / most : 0]))
}

const NONE: readonly number[] = []

/** Returns a function that finds the question's pieces in a word and caches what it has found. */
function findPlaces(
  byPiece: SievedPlaces,
  { known, numberOf }: WordMatcher,
): (id: number) => readonly number[] {
  const knownPlaces: (readonly number[] | undefined)[] = []
  return (id) => {
    const before = knownPlaces[id]
    if (before) return before
    const number = numberOf(id)
    const letters = known.pool.subarray(known.bounds[lettersAt(number)], known.bounds[gramsAt(number)])
    const found = piecesOf(letters).flatMap((piece) => placesOf(byPiece, piece))
    knownPlaces[id] = found.length > 0 ? found : NONE
    return knownPlaces[id]
  }
}

function raritiesIn(
  common: readonly string[],
  { idsOf }: WordMatcher,
  said: ReadonlyMap<number, Fields>,
): { word: string; rarity: number }[] {
  const ids = idsOf(common)
  return common.map((word, i) => {
    const has = (list: WordIds): boolean => list.includes(ids[i]!)
    const found = [...said.values()].filter(
      (fields) => has(fields.title) || has(fields.path) || has(fields.text),
    )
    return { word, rarity: inverseFrequency(found.length, said.size) }
  })
}

const codesOf = (word: string): Uint32Array => Uint32Array.from(word, (letter) => letter.charCodeAt(0))

/** Hashes of the pieces of a word, without the accents of Latin letters. */
function piecesOf(codes: Uint32Array): number[] {
  const pieces: number[] = []
  const last = Math.max(0, codes.length + 1 - LETTERS)
  for (let start = 0; start <= last; start++) {
    let hash = start === 0 ? Math.imul(MARK, 0x01000193) : 0
    const end = Math.min(codes.length, start + LETTERS - 1)
    for (let at = start === 0 ? 0 : start - 1; at < end; at++) {
      const code = codes[at]!
      hash = Math.imul(hash ^ (code < 0x80 ? code : plainCode(code)), 0x01000193)
    }
    pieces.push(hash >>> 0)
  }
  return pieces
}

const plainCodes = new Map<number, number>()

function plainCode(code: number): number {
  let plain = plainCodes.get(code)
  if (plain === undefined) {
    plain = foldAccents(String.fromCharCode(code)).charCodeAt(0)
    plainCodes.set(code, plain)
  }
  return plain
}
