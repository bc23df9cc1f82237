/** What is indexed. For questions and answers, `questions` holds the questions and `text` the answer. */
export type IndexedChunk = {
  id: string
  sourceId: string
  sourceName: string | null
  url: string | null
  headingPath: string[]
  page: number | null
  text: string
  questions?: string[]
  /** The id of its heading on a page of the web. */
  anchor?: string
  /** Of an uploaded file. */
  isFile?: true
  /** From an embedding provider, when one is configured. Chunks of one index share their number of dimensions. */
  vector?: Float32Array | null
}

/** What a search finds: a chunk and how likely it is (0..1) to hold the answer. */
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
  score: number
}

export function passageOf(chunk: IndexedChunk, score: number): Passage {
  const { id, vector: _vector, ...shown } = chunk
  return { chunkId: id, ...shown, score }
}
