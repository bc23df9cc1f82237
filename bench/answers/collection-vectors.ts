import { embeddedText } from '../../server/knowledge/training/embed-chunks.ts'
import type { Embedder } from '../../server/models/vectors/embedder.ts'
import { factOf } from './fact-of.ts'
import type { LoadedCollection } from './load-collections.ts'

/** The vectors of an embedding model for a collection. */
export type CollectionVectors = {
  ofChunks: Float32Array[]
  /** Returns the function that embeds what is searched for to answer the question with this fact. */
  vectorsFor(fact: string | null): (searched: string) => Promise<Float32Array>
}

/** Returns the vectors of a real model. */
export async function modelVectors(
  embedder: Embedder,
  { chunks }: LoadedCollection,
): Promise<CollectionVectors> {
  const ofChunks = await embedder.embed(
    chunks.map(({ headingPath, questions = null, text }) => embeddedText({ headingPath, questions, text })),
  )
  return {
    ofChunks,
    vectorsFor: () => async (searched) => (await embedder.embed([searched], { areQuestions: true }))[0]!,
  }
}

const DIMENSIONS = 256

/**
 * Returns the vectors of an ideal model. The vector of a question is close to that of the chunk with its fact, or to
 * none if there is no such chunk. In a conversation, each search is for the last question.
 */
export function idealVectors({ chunks }: LoadedCollection): CollectionVectors {
  let state = 7
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32 - 0.5
  }
  const random = (): Float32Array => Float32Array.from({ length: DIMENSIONS }, next)
  const ofChunks = chunks.map(random)
  return {
    ofChunks,
    vectorsFor(fact) {
      const noise = random()
      const holds = fact === null ? () => false : factOf(fact)
      const right = chunks.findIndex(({ headingPath, text }) => holds(`${headingPath.join(' ')} ${text}`))
      const vector = right < 0 ? noise : noise.map((value, i) => value * 0.7 + ofChunks[right]![i]!)
      return async () => vector
    },
  }
}
