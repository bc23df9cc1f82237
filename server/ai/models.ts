import type { LanguageModelV4 } from '@ai-sdk/provider'
import { Agent } from 'undici'
import { createFairPlaces, type FairPlaces } from '../platform/concurrency/fair-shares.ts'
import { type SideCall, separateReasoning } from './calls/call-model.ts'
import type { ResolvedModel, Wire } from './calls/model-call.ts'
import type { Catalogue } from './catalogue/catalogue.ts'
import type { EmbeddingEntry, EmbeddingFolder } from './catalogue/embedding-entry.ts'
import {
  createFolderProcess,
  type FolderProcess,
  folderTransport,
} from './embedding-folder/folder-process.ts'
import { createEmbedder, type Embedder } from './embeddings/embedder.ts'
import { embeddingServer } from './embeddings/embedding-server.ts'
import type { EmbeddingCall, EmbeddingUse, Owner } from './embeddings/embedding-use.ts'
import { createLane, type Lane } from './embeddings/lane.ts'
import { createReranker, type Reranker } from './embeddings/reranker.ts'
import { shortenedTo } from './embeddings/shortened-to.ts'
import { entryOfSpace, spaceOf } from './embeddings/vector-space.ts'
import type { KnownFailures } from './failures/known-failures.ts'
import type { ModelFailure } from './failures/model-failure.ts'
import { fetchedModels } from './local/fetched-models.ts'
import { languageModelWire, providerWire } from './providers/provider-wire.ts'

export type Models = {
  /** Returns the values that an agent's `model` may have: `auto` and every id of the catalogue. */
  ids(): string[]
  /** Returns the model with this id; null when it is not, or no longer, in the catalogue. */
  resolve(id: string): ResolvedModel | null
  /** Returns the model for a short task on behalf of an agent whose own model is `own`. */
  small(own: ResolvedModel): ResolvedModel
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
  /** Notes a call that is not part of an answer. */
  noteCall(call: SideCall): void
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
  recordUse = () => {},
  noteTokens = () => {},
  noteCall = () => {},
  noteEmbedding = () => {},
}: {
  catalogue: Catalogue
  builtin: LanguageModelV4
  /** The folder of fetched models; null where there is none. */
  fetchedInto?: string | null
  recordUse?: KnownFailures['note']
  noteTokens?: (owner: Owner, kind: 'passages' | 'questions', use: EmbeddingUse) => void
  noteCall?: (call: SideCall) => void
  noteEmbedding?: (call: EmbeddingCall) => void
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
          : providerWire(entry, connections).then((wire) => separateReasoning(wire, entry.hasTags))
      return loaded
    }
    resolved.set(entry.id, {
      entry,
      wire: load,
      refused: new Map(),
      recordUse: (failure) => {
        if (entry.provider !== 'builtin') recordUse({ what: 'model', name: entry.id }, failure)
      },
    })
  }
  const { formerEmbedding, reranker } = catalogue
  const processes = new Map<string, FolderProcess>()
  const lanes = new Map<string, Lane>()
  const embedders = new Map<string, Embedder>()
  const embedderFor = (entry: EmbeddingEntry): Embedder => {
    const space = spaceOf(entry)
    const known = embedders.get(space)
    if (known) return known
    const { name, prefixes } = entry
    const place = 'folder' in entry ? entry.folder : entry.baseUrl
    const lane = lanes.get(place) ?? createLane()
    lanes.set(place, lane)
    const common = {
      name,
      space,
      prefixes,
      // The machine's own time is not counted.
      price: 'folder' in entry ? 0 : (entry.price ?? null),
      lane,
      noteTokens,
      noteCall: (call: Omit<EmbeddingCall, 'isLocal'>) =>
        noteEmbedding({ ...call, isLocal: 'folder' in entry }),
      recordUse(failure: ModelFailure | null) {
        // Nobody looks at the failures of a model that is being replaced.
        if (used.embedder?.space === space) recordUse({ what: 'embeddings', name }, failure)
      },
    }
    const made =
      'folder' in entry
        ? createEmbedder({
            ...common,
            title: 'embedding model',
            dimensions: shortenedTo(name),
            transport: folderTransport(processOf(entry)),
          })
        : createEmbedder({
            ...common,
            title: 'embedding server',
            dimensions: entry.dimensions ?? shortenedTo(name),
            transport: embeddingServer(entry, connections),
          })
    embedders.set(space, made)
    return made
  }
  const processOf = (entry: EmbeddingFolder): FolderProcess => {
    const key = `${entry.folder} ${entry.hash}`
    const process = processes.get(key) ?? createFolderProcess(entry)
    processes.set(key, process)
    return process
  }
  const fetched = (): EmbeddingEntry[] => (fetchedInto === null ? [] : fetchedModels(fetchedInto))
  const inUse = (others: EmbeddingEntry[]) => {
    const embedding = catalogue.embedding ?? others[0] ?? null
    return { others, embedding, embedder: embedding && embedderFor(embedding) }
  }
  let used = inUse(fetched())
  return {
    ids: () => ['auto', ...resolved.keys()],
    resolve: (id) => resolved.get(id === 'auto' ? catalogue.auto : id) ?? null,
    small(own) {
      const { small = null } = catalogue
      // An agent that uses no model sends nothing to one.
      return (small === null || own.entry.provider === 'builtin' ? null : resolved.get(small)) ?? own
    },
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
    noteCall,
    asking: createFairPlaces({ places: ASKING_AT_ONCE, share: ASKING_OF_ACCOUNT }),
    reranker: reranker ? createReranker(reranker, connections) : null,
    async close() {
      await Promise.all([...processes.values()].map((process) => process.close()))
      await connections.close()
    },
  }
}
