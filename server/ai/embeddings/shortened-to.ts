const DIMENSIONS = 512
/**
 * Models whose authors document that a vector may be cut off: the first numbers say the most, and 512 of them find
 * nearly the same with a third of the memory and time.
 */
const CUTTABLE =
  /text-embedding-3|gemini-embedding|embedding-?gemma|qwen3-embedding|nomic-embed-text-v(?:1[.]5|2)|jina-embeddings-v[3-9]|arctic-embed.*v2/

/** The dimensions that are kept of a model's vectors unless the operator asks for others; null for all. */
export const shortenedTo = (name: string): number | null =>
  CUTTABLE.test(name.toLowerCase().replaceAll('_', '-')) ? DIMENSIONS : null
