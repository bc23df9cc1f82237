import type { EmbeddingFolder } from '../catalogue/embedding-entry.ts'
import type { Embedder } from '../vectors/embedder.ts'
import { shortened } from '../vectors/normalised.ts'
import { shortenedTo } from '../vectors/shortened-to.ts'
import { spaceOf } from '../vectors/vector-space.ts'
import type { FolderProcess } from './folder-process.ts'

/** The number of texts whose vectors a caller stores at once. */
const BATCH = 32

/** Creates an embedder for a model that runs in a child process of the service. */
export function createFolderEmbedder(entry: EmbeddingFolder, process: FolderProcess): Embedder {
  const { query, passage } = entry.prefixes
  return {
    space: spaceOf(entry),
    dimensions: shortenedTo(entry.name),
    batch: BATCH,
    async embed(texts, { signal, areQuestions = false } = {}) {
      const vectors: Float32Array[] = []
      for (const text of texts) {
        vectors.push(
          areQuestions
            ? await process.embed(query + text, 'questions', signal)
            : await process.embed(passage + text, 'passages', signal),
        )
      }
      return vectors.map((vector) => shortened(vector, shortenedTo(entry.name)))
    },
  }
}
