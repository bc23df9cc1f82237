import type { LanguageModelV4 } from '@ai-sdk/provider'
import { Agent } from 'undici'
import { createFairPlaces, type FairPlaces } from '../fairness/fair-places.ts'
import type { ResolvedModel, Wire } from './calls/model-call.ts'
import { separateReasoning } from './calls/tagged-reasoning.ts'
import type { Catalogue } from './catalogue/catalogue.ts'
import type { EmbeddingEntry } from './catalogue/embedding-entry.ts'
import type { KnownFailures } from './failures/known-failures.ts'
import { ModelFailure } from './failures/model-failure.ts'
import { createFolderEmbedder } from './folder/folder-embedder.ts'
import { createFolderProcess, type FolderProcess } from './folder/folder-process.ts'
import { fetchedModels } from './local/fetched-models.ts'
import { languageModelWire } from './providers/language-model-wire.ts'
import { providerWire } from './providers/provider-wire.ts'
import { createEmbedder, type Embedder } from './vectors/embedder.ts'
import { createReranker, type Reranker } from './vectors/reranker.ts'
import { entryOfSpace, spaceOf } from './vectors/vector-space.ts'

export type Models = {
  /** Returns the values that an agent's `model` may have: `auto` and every id of the catalogue. */
  ids(): string[]
  /** Returns the model with this id; null when it is not, or no longer, in the catalogue. */
  resolve(id: string): ResolvedModel | null
  /** The embedding model in use: the configured one, else the one that was fetched; null for none. */
  readonly embedding: EmbeddingEntry | null
  readonly embedder: Embedder | null
  /** Uses what has been fetched since. Returns whether the embedding model is another one now. */
  adoptFetched(): boolean
  /** Returns the embedder of a space that is, or was, in use; null when its model is no longer known. */
  embedderOf(space: string): Embedder | null
  /** The reranker; null when passages stay in the order of the search. */
  reranker: Reranker | null
  /** The places for model calls that are not part of an answer, such as titles, spam checks and analyses. */
  readonly asking: FairPlaces
  close(): Promise<void>
}

const ASKING_AT_ONCE = 64
const ASKING_OF_ACCOUNT = 32

/**
 * Creates the models of the catalogue. Providers are loaded on first use, because their packages are large. All HTTP
 * requests share one pool of keep-alive connections.
 */
export function createModels({
  catalogue,
  builtin,
  fetchedInto = null,
  noteUse = () => {},
}: {
  catalogue: Catalogue
  builtin: LanguageModelV4
  /** The folder of fetched models; null where there is none. */
  fetchedInto?: string | null
  noteUse?: KnownFailures['note']
}): Models {
  const connections = new Agent({
    connections: 4_096,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    // With one connection per call, a lost connection affects only one answer.
    allowH2: false,
    // The callers enforce the timeouts.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  const resolved = new Map<string, ResolvedModel>()
  for (const entry of catalogue.entries) {
    let loaded: Promise<Wire> | null = null
    const load = (): Promise<Wire> => {
      loaded ??=
        entry.provider === 'builtin'
          ? Promise.resolve(languageModelWire(() => builtin))
          : providerWire(entry, connections).then((wire) =>
              separateReasoning(wire, entry.reasoning === 'tags'),
            )
      return loaded
    }
    resolved.set(entry.id, {
      entry,
      wire: load,
      refused: new Map(),
      noteUse: (failure) => {
        if (entry.provider !== 'builtin') noteUse({ what: 'model', name: entry.id }, failure)
      },
    })
  }
  const { formerEmbedding, reranker } = catalogue
  const processes = new Map<string, FolderProcess>()
  const embedderFor = (entry: EmbeddingEntry): Embedder => {
    if (!('folder' in entry)) return createEmbedder(entry, connections)
    const key = `${entry.folder} ${entry.hash}`
    const process = processes.get(key) ?? createFolderProcess(entry)
    processes.set(key, process)
    return createFolderEmbedder(entry, process)
  }
  const fetched = (): EmbeddingEntry[] => (fetchedInto === null ? [] : fetchedModels(fetchedInto))
  const inUse = (others: EmbeddingEntry[]) => {
    const embedding = catalogue.embedding ?? others[0] ?? null
    return {
      others,
      embedding,
      embedder: embedding && noting(embedderFor(embedding), embedding.name, noteUse),
    }
  }
  let used = inUse(fetched())
  return {
    ids: () => ['auto', ...resolved.keys()],
    resolve: (id) => resolved.get(id === 'auto' ? catalogue.auto : id) ?? null,
    get embedding() {
      return used.embedding
    },
    get embedder() {
      return used.embedder
    },
    adoptFetched() {
      const next = inUse(fetched())
      // A folder that cannot be read for a moment must not cost the vectors.
      if (next.embedder === null || next.embedder.space === used.embedder?.space) return false
      used = next
      return true
    },
    embedderOf(space) {
      if (used.embedder?.space === space) return used.embedder
      const known = [formerEmbedding, used.embedding, ...used.others].filter((entry) => entry !== null)
      const former =
        known.find((entry) => spaceOf(entry) === space) ??
        known.map((entry) => entryOfSpace(space, entry)).find((entry) => entry !== null)
      return former ? embedderFor(former) : null
    },
    asking: createFairPlaces({ places: ASKING_AT_ONCE, share: ASKING_OF_ACCOUNT }),
    reranker: reranker ? createReranker(reranker, connections) : null,
    async close() {
      await Promise.all([...processes.values()].map((process) => process.close()))
      await connections.close()
    },
  }
}

/** Returns the embedder, which then notes how each of its calls ended. */
const noting = (embedder: Embedder, name: string, noteUse: KnownFailures['note']): Embedder => ({
  ...embedder,
  async embed(texts, options) {
    try {
      const vectors = await embedder.embed(texts, options)
      noteUse({ what: 'embeddings', name }, null)
      return vectors
    } catch (error) {
      if (error instanceof ModelFailure && error.kind !== 'aborted')
        noteUse({ what: 'embeddings', name }, error)
      throw error
    }
  },
})
