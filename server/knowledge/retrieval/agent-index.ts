import { createBreather } from '../../fairness/breathe.ts'
import type { WordVectors } from '../../models/static/word-vectors.ts'
import { createStemmer } from '../../text/stem.ts'
import { dropChunks, isSweepDue, showChunks, sweep } from './drop-chunks.ts'
import { bytesOfTables } from './index-bytes.ts'
import type { IndexedChunk } from './passage.ts'
import { replaceVectors } from './replace-vectors.ts'
import { type SearchOptions, type SearchResult, searchTables } from './search-tables.ts'
import { createTables } from './tables.ts'
import type { Lexicon } from './word-forms.ts'
import { writeChunk } from './write-chunks.ts'

export type AgentIndex = {
  /**
   * Puts a source's chunks in the place of those it had. Search sees the old ones until all new ones are in. The
   * work is cut into slices. A later replace or remove of the same source wins over one that is still going on.
   */
  replaceSource(sourceId: string, chunks: Chunks): Promise<void>
  /** Takes a source out; the next search does not find it. */
  removeSource(sourceId: string): void
  /** Number of chunks of each source that search sees. */
  sources(): Map<string, number>
  search(question: string, options: SearchOptions): SearchResult
  /**
   * Puts vectors of another model in the place of the provider's vectors of all chunks, in one step when all are
   * there; search uses the old ones until then. `load` brings those of the given chunks; one may have none.
   */
  replaceVectors(load: (chunkIds: string[]) => Promise<Map<string, Float32Array>>): Promise<void>
  /** Estimated memory. */
  readonly bytes: number
}

type Chunks = Iterable<IndexedChunk> | AsyncIterable<IndexedChunk>

/** An empty index of one agent's passages, in memory. */
export function createAgentIndex(words: WordVectors, lexicon?: Lexicon): AgentIndex {
  const tables = createTables(words, lexicon)
  const slotsOf = new Map<string, number[]>()
  const latest = new Map<string, symbol>()
  let sweeping = false

  const sweepIfDue = async (breathe: () => Promise<void> | undefined): Promise<void> => {
    if (sweeping || !isSweepDue(tables)) return
    sweeping = true
    try {
      await sweep(tables, breathe)
    } finally {
      sweeping = false
    }
  }

  return {
    async replaceSource(sourceId, chunks) {
      const turn = Symbol(sourceId)
      latest.set(sourceId, turn)
      const breathe = createBreather()
      const stem = createStemmer()
      const written: number[] = []
      const settle = (): void => {
        if (latest.get(sourceId) === turn) latest.delete(sourceId)
      }
      try {
        for await (const chunk of chunks) {
          if (latest.get(sourceId) !== turn) break
          written.push(writeChunk(tables, chunk, stem))
          await breathe()
        }
      } catch (error) {
        dropChunks(tables, written)
        settle()
        throw error
      }
      if (latest.get(sourceId) !== turn) {
        dropChunks(tables, written)
      } else {
        dropChunks(tables, slotsOf.get(sourceId) ?? [])
        showChunks(tables, written)
        slotsOf.set(sourceId, written)
        settle()
      }
      await sweepIfDue(breathe)
    },
    removeSource(sourceId) {
      latest.delete(sourceId)
      dropChunks(tables, slotsOf.get(sourceId) ?? [])
      slotsOf.delete(sourceId)
    },
    replaceVectors: (load) => replaceVectors(tables, load),
    sources: () => new Map([...slotsOf].map(([sourceId, slots]) => [sourceId, slots.length])),
    search: (question, options) => searchTables(tables, question, options),
    get bytes() {
      return bytesOfTables(tables)
    },
  }
}
