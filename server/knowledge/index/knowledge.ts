import type { Logger } from 'pino'
import type { Db } from '../../db/database.ts'
import type { WordVectors } from '../../models/static/word-vectors.ts'
import type { Embedder } from '../../models/vectors/embedder.ts'
import { createAgentIndex } from '../search/agent-index.ts'
import { createLexicon } from '../search/question/word-forms.ts'
import type { SearchOptions, SearchResult } from '../search/search-tables.ts'
import { type DocumentsSummary, NO_DOCUMENTS } from '../search/summarise-documents.ts'
import { type AgentKnowledge, type IndexState, syncIndex, syncVectors } from './update-index.ts'

export type Knowledge = {
  /** Returns the passages of an agent's live sources that fit a question, as of `knowledgeVersion` or newer. */
  search(
    agent: AgentKnowledge,
    question: string,
    options: Pick<SearchOptions, 'limit' | 'explain'>,
  ): Promise<SearchResult>
  /** Returns whether there is nothing to search: the agent has no live source with text. */
  isEmpty(agent: AgentKnowledge): Promise<boolean>
  /** Returns in which language an agent's live sources are, and what they are about. */
  summary(agent: AgentKnowledge): Promise<DocumentsSummary>
  /** The estimated memory of all indexes held, in bytes. */
  readonly bytes: number
}

type Deps = {
  db: Db
  words: WordVectors
  /**
   * Returns the embedder of a space; null when its model can no longer be reached, and questions are then searched by
   * their words.
   */
  embedderOf: (space: string) => Embedder | null
  log: Logger
  maxBytes?: number
}

const MAX_BYTES = 512 * 1_048_576
const EMBED_QUESTION_MS = 2_000

/**
 * Keeps the indexes of the agents searched most recently, up to `maxBytes` together. An index is updated to its
 * agent's knowledge version incrementally: only changed sources are read again.
 */
export function createKnowledge({ db, words, embedderOf, log, maxBytes = MAX_BYTES }: Deps): Knowledge {
  const lexicon = createLexicon(words)
  // The indexes in order of use, oldest first.
  const states = new Map<string, IndexState>()
  const syncing = new Map<string, Promise<void>>()
  const movingVectors = new Set<string>()

  const stateOf = (agentId: string): IndexState => {
    const state = states.get(agentId) ?? {
      index: createAgentIndex(words, lexicon),
      version: -1,
      sources: new Map(),
      space: null,
      liveSpace: null,
    }
    states.delete(agentId)
    states.set(agentId, state)
    return state
  }

  const bytesHeld = (): number => [...states.values()].reduce((sum, { index }) => sum + index.bytes, 0)

  const makeRoom = (keep: string): void => {
    let bytes = bytesHeld()
    for (const [agentId, { index }] of states) {
      if (bytes <= maxBytes) return
      if (agentId === keep || syncing.has(agentId)) continue
      bytes -= index.bytes
      states.delete(agentId)
    }
  }

  const moveVectors = async (agent: AgentKnowledge, state: IndexState): Promise<void> => {
    while (state.space !== state.liveSpace) await syncVectors(db, agent, state, state.liveSpace)
  }

  const sync = async (agent: AgentKnowledge, state: IndexState): Promise<void> => {
    const space = await syncIndex(db, agent, state)
    state.liveSpace = space
    if (space === state.space || movingVectors.has(agent.id)) return
    movingVectors.add(agent.id)
    // Nobody waits for this. After a failure, it is tried again when the knowledge next moves or the index is
    // rebuilt.
    void moveVectors(agent, state)
      .catch((error: unknown) => log.warn({ err: error, agent: agent.id }, 'new vectors could not be read'))
      .finally(() => movingVectors.delete(agent.id))
  }

  const upToDate = async (agent: AgentKnowledge): Promise<IndexState> => {
    const state = stateOf(agent.id)
    // One synchronisation serves all that wait. It may have begun before the version that this caller needs.
    while (state.version < agent.knowledgeVersion) {
      const running = syncing.get(agent.id)
      if (running) {
        await running
        continue
      }
      const work = sync(agent, state).finally(() => syncing.delete(agent.id))
      syncing.set(agent.id, work)
      await work
      makeRoom(agent.id)
    }
    return state
  }

  const vectorOf = async (question: string, space: string | null): Promise<Float32Array | null> => {
    const embedder = space === null ? null : embedderOf(space)
    if (!embedder) return null
    try {
      const signal = AbortSignal.timeout(EMBED_QUESTION_MS)
      const [vector] = await embedder.embed([question], { signal, areQuestions: true })
      return vector ?? null
    } catch (error) {
      // Words alone still find most passages, and an answer matters more than the best ranking.
      log.warn({ err: error }, 'the question could not be embedded')
      return null
    }
  }

  return {
    async search(agent, question, options) {
      // An agent that never had a source has nothing to search.
      if (agent.knowledgeVersion === 0) return { passages: [], confidence: 0 }
      const state = await upToDate(agent)
      const { space } = state
      const vector = await vectorOf(question, space)
      // The index may have moved to another space meanwhile, and vectors of two spaces cannot be compared.
      return state.index.search(question, { ...options, queryVector: space === state.space ? vector : null })
    },
    async isEmpty(agent) {
      if (agent.knowledgeVersion === 0) return true
      return [...(await upToDate(agent)).index.sources().values()].every((chunks) => chunks === 0)
    },
    async summary(agent) {
      if (agent.knowledgeVersion === 0) return NO_DOCUMENTS
      return (await upToDate(agent)).index.summary()
    },
    get bytes() {
      return bytesHeld()
    },
  }
}
