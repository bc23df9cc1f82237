import type { LanguageModelV4 } from '@ai-sdk/provider'
import { Agent } from 'undici'
import type { Catalogue, ModelEntry } from './catalogue.ts'
import { createEmbedder, type Embedder, entryOfSpace, spaceOf } from './embedder.ts'
import { providerModel } from './provider-model.ts'
import { createReranker, type Reranker } from './reranker.ts'

export type ResolvedModel = { entry: ModelEntry; model(): Promise<LanguageModelV4> }

export type Models = {
  /** What an agent's `model` may be: `auto` and every id of the catalogue. */
  ids(): string[]
  /** null for an id that is not, or no longer, in the catalogue. */
  resolve(id: string): ResolvedModel | null
  embedder: Embedder | null
  /** The embedder of a space that is, or was, in use; null when its model is not known any more. */
  embedderOf(space: string): Embedder | null
  /** null: passages stay in the order of the search. */
  reranker: Reranker | null
  close(): Promise<void>
}

/** The models of the catalogue. Providers are loaded when first used: their packages are large. */
export function createModels({
  catalogue,
  builtin,
}: {
  catalogue: Catalogue
  builtin: LanguageModelV4
}): Models {
  // One pool of kept connections for our own adapter, the embedder and the reranker.
  const connections = new Agent({ connections: 4_096, pipelining: 1, keepAliveTimeout: 30_000 })
  const resolved = new Map<string, ResolvedModel>()
  for (const entry of catalogue.entries) {
    let loaded: Promise<LanguageModelV4> | null = null
    const load = (): Promise<LanguageModelV4> => {
      loaded ??= entry.provider === 'builtin' ? Promise.resolve(builtin) : providerModel(entry, connections)
      return loaded
    }
    resolved.set(entry.id, { entry, model: load })
  }
  const { embedding, formerEmbedding, reranker } = catalogue
  const embedder = embedding && createEmbedder(embedding, connections)
  return {
    ids: () => ['auto', ...resolved.keys()],
    resolve: (id) => resolved.get(id === 'auto' ? catalogue.auto : id) ?? null,
    embedder,
    embedderOf(space) {
      if (embedder?.space === space) return embedder
      const servers = [formerEmbedding, embedding].filter((entry) => entry !== null)
      const former =
        servers.find((entry) => spaceOf(entry) === space) ??
        servers.map((entry) => entryOfSpace(space, entry)).find((entry) => entry !== null)
      return former ? createEmbedder(former, connections) : null
    },
    reranker: reranker ? createReranker(reranker, connections) : null,
    close: () => connections.close(),
  }
}
