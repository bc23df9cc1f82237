import type { Logger } from 'pino'
import type { Db } from '../db/database.ts'
import type { AccountId } from '../db/tables.ts'
import type { Embedder } from '../models/embedder.ts'
import type { WordVectors } from '../models/static/word-vectors.ts'
import { type AgentIndex, createAgentIndex } from './retrieval/agent-index.ts'
import type { SearchResult } from './retrieval/search-tables.ts'
import { syncIndex } from './sync-index.ts'

export type Knowledge = {
  /** The passages of an agent's live sources that fit a question, as of `knowledgeVersion` or newer. */
  search(agent: AgentKnowledge, question: string, options: { limit: number }): Promise<SearchResult>
}

/** `knowledgeVersion` as read in the transaction that the answer belongs to. */
export type AgentKnowledge = { id: string; accountId: AccountId; knowledgeVersion: number }

type Deps = { db: Db; words: WordVectors; embedder: Embedder | null; log: Logger; maxBytes?: number }

/** One agent's index in this process and the version it holds; `sources` tells by a mark what is in it. */
export type IndexState = { index: AgentIndex; version: number; sources: Map<string, string> }

const MAX_BYTES = 512 * 1_048_576
const EMBED_QUESTION_MS = 2_000

/**
 * Keeps the indexes of the agents asked last, up to `maxBytes` together. An index follows its agent's knowledge
 * version by the difference: only changed sources are read again.
 */
export function createKnowledge({ db, words, embedder, log, maxBytes = MAX_BYTES }: Deps): Knowledge {
  // In order of use, oldest first.
  const states = new Map<string, IndexState>()
  const syncing = new Map<string, Promise<void>>()

  const stateOf = (agentId: string): IndexState => {
    const state = states.get(agentId) ?? { index: createAgentIndex(words), version: -1, sources: new Map() }
    states.delete(agentId)
    states.set(agentId, state)
    return state
  }

  const makeRoom = (keep: string): void => {
    let bytes = 0
    for (const { index } of states.values()) bytes += index.bytes
    for (const [agentId, { index }] of states) {
      if (bytes <= maxBytes) return
      if (agentId === keep || syncing.has(agentId)) continue
      bytes -= index.bytes
      states.delete(agentId)
    }
  }

  const upToDate = async (agent: AgentKnowledge): Promise<IndexState> => {
    const state = stateOf(agent.id)
    // One synchronisation serves all that wait; it may have begun before the version that this one needs.
    while (state.version < agent.knowledgeVersion) {
      const running = syncing.get(agent.id)
      if (running) {
        await running
        continue
      }
      const work = syncIndex(db, agent, state, embedder?.space ?? null).finally(() =>
        syncing.delete(agent.id),
      )
      syncing.set(agent.id, work)
      await work
      makeRoom(agent.id)
    }
    return state
  }

  const vectorOf = async (question: string): Promise<Float32Array | null> => {
    if (!embedder) return null
    try {
      const [vector] = await embedder.embed([question], { signal: AbortSignal.timeout(EMBED_QUESTION_MS) })
      return vector ?? null
    } catch (error) {
      // Words alone still find most passages; an answer is worth more than its best order.
      log.warn({ err: error }, 'the question could not be embedded')
      return null
    }
  }

  return {
    async search(agent, question, { limit }) {
      const [state, queryVector] = await Promise.all([upToDate(agent), vectorOf(question)])
      return state.index.search(question, { limit, queryVector })
    },
  }
}
