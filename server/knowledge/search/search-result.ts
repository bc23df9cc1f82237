import type { EmbeddingUse } from '../../ai/embeddings/embedding-use.ts'

/** A chunk that was found. For questions and answers, `questions` contains the questions and `text` the answer. */
export type Passage = {
  chunkId: string
  sourceId: string
  sourceName: string | null
  url: string | null
  headingPath: string[]
  page: number | null
  text: string
  questions?: string[]
  /** The id of its heading on a web page. */
  anchor?: string
  /** The page of an uploaded file. */
  isFile?: true
  /** When its content was last changed or read. */
  updatedAt?: Date
  /** Its own question was asked, or it is pinned for it; nothing puts another passage before it. */
  isFirst?: true
  /** What a model is given in its place: the passage and its neighbours, in the order of the text. */
  pieces?: Piece[]
  /** 0 to 1, at most that of the passage before it; the first has the confidence of the search. */
  score: number
}

/** A chunk of a passage that was completed by its neighbours. */
export type Piece = Pick<Passage, 'chunkId' | 'text' | 'page' | 'anchor'>

/** The place of a passage by its words and by its vector, from 1; null if it is not among those found that way. */
export type Signals = { words: number | null; vectors: number | null }

export type SearchResult = {
  /** Best first. */
  passages: Passage[]
  /**
   * How much of the question the best passages hold, from 0 to 1: the share of its words, weighted by their rarity. It is
   * at least FOUND_FROM if one of the passages is similar enough by its vector.
   */
  confidence: number
  isFound: boolean
  /** Whether words of the agent are still being indexed, so that a miss says nothing. */
  isIndexing: boolean
  /** False for a message without any word of the documents, such as "hi". */
  hasKnownWord: boolean
  /** Why the agent's vectors were not searched, as a sentence; null if they were, or there are none. */
  vectorProblem: string | null
  /** What was sent to the embedding model; null without one. */
  embeddingUse: EmbeddingUse | null
  signals?: Map<string, Signals>
}

export const NOTHING_FOUND: SearchResult = {
  passages: [],
  confidence: 0,
  isFound: false,
  isIndexing: false,
  hasKnownWord: false,
  vectorProblem: null,
  embeddingUse: null,
}
