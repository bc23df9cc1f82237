/** The indexed content. For questions and answers, `questions` contains the questions and `text` the answer. */
export type IndexedChunk = {
  id: string
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
  /**
   * The vector of an embedding provider, if one is configured. All chunks of an index have the same number of
   * dimensions.
   */
  vector?: Float32Array | null
}

/** A search result: a chunk and the probability (0 to 1) that it contains the answer. */
export type Passage = {
  chunkId: string
  sourceId: string
  sourceName: string | null
  url: string | null
  headingPath: string[]
  page: number | null
  text: string
  questions?: string[]
  anchor?: string
  isFile?: true
  /** The parts of the list that the passage begins with, or ends with, in the chunks before and after it. */
  listBefore?: string
  listAfter?: string
  score: number
}

export function passageOf(chunk: IndexedChunk, score: number): Passage {
  const { id, vector: _vector, ...shown } = chunk
  return { chunkId: id, ...shown, score }
}
