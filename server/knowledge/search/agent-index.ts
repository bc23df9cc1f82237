import { createBreather } from '../../fairness/breathe.ts'
import type { WordVectors } from '../../models/static/word-vectors.ts'
import { createStemmer } from '../../text/languages/stem.ts'
import type { IndexedChunk } from './passage.ts'
import type { Lexicon } from './question/word-forms.ts'
import { type SearchOptions, type SearchResult, searchTables } from './search-tables.ts'
import { type DocumentsSummary, summariseDocuments } from './summarise-documents.ts'
import { dropChunks, isSweepDue, showChunks, sweep } from './tables/drop-chunks.ts'
import { bytesOfTables } from './tables/index-bytes.ts'
import { replaceVectors } from './tables/replace-vectors.ts'
import { createTables } from './tables/tables.ts'
import { writeChunk } from './tables/write-chunks.ts'

export type AgentIndex = {
  /**
   * Replaces a source's chunks. Searches see the old ones until all new ones are in. The work is done in slices. A
   * later replace or remove of the same source overrides one that is still running.
   */
  replaceSource(sourceId: string, chunks: Chunks): Promise<void>
  /** Removes a source, so that the next search does not find it. */
  removeSource(sourceId: string): void
  /** Returns the number of searchable chunks of each source. */
  sources(): Map<string, number>
  search(question: string, options: SearchOptions): SearchResult
  /** Returns in which language the searchable chunks are, and what they are about. */
  summary(): DocumentsSummary
  /**
   * Replaces the provider's vectors of all chunks by those of another model, in one step once all are loaded;
   * searches use the old ones until then. `load` returns the vectors of the given chunks, some of which may have
   * none.
   */
  replaceVectors(load: (chunkIds: string[]) => Promise<Map<string, Float32Array>>): Promise<void>
  /** The estimated memory of the index, in bytes. */
  readonly bytes: number
}

type Chunks = Iterable<IndexedChunk> | AsyncIterable<IndexedChunk>

/** Creates an empty in-memory index of one agent's passages. */
export function createAgentIndex(words: WordVectors, lexicon?: Lexicon): AgentIndex {
  const tables = createTables(words, lexicon)
  const slotsOf = new Map<string, number[]>()
  const latest = new Map<string, symbol>()
  let sweeping = false
  let summary: DocumentsSummary | null = null

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
        summary = null
        settle()
      }
      await sweepIfDue(breathe)
    },
    removeSource(sourceId) {
      latest.delete(sourceId)
      dropChunks(tables, slotsOf.get(sourceId) ?? [])
      slotsOf.delete(sourceId)
      summary = null
    },
    replaceVectors: (load) => replaceVectors(tables, load),
    sources: () => new Map([...slotsOf].map(([sourceId, slots]) => [sourceId, slots.length])),
    search: (question, options) => searchTables(tables, question, options),
    summary() {
      summary ??= summariseDocuments(tables, slotsOf)
      return summary
    },
    get bytes() {
      return bytesOfTables(tables)
    },
  }
}
