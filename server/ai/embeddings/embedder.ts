import { setTimeout as wait } from 'node:timers/promises'
import { estimateTokens } from '../../platform/text/languages/language.ts'
import { asFailure, ModelFailure } from '../failures/model-failure.ts'
import type { Prefixes } from './embedding-prefixes.ts'
import { costOf, type EmbeddingCall, type EmbeddingUse, type Owner, sumOfUses } from './embedding-use.ts'
import type { Lane } from './lane.ts'
import { shortened } from './normalised.ts'
import { createPace } from './pace.ts'
import { createQuestionVectors } from './question-vectors.ts'

export type Embedder = {
  /**
   * The embedding space of the vectors. Only vectors of the same space can be compared; another model, server or size
   * makes another space.
   */
  space: string
  /** The number of dimensions that are kept of longer vectors; null for all. */
  dimensions: number | null
  /** US dollars for a million tokens; null if it is not known. */
  price: number | null
  /** What the model is called where it fails: "embedding server" or "embedding model". */
  title: string
  /**
   * Yields one vector of length 1 for each text, in the same order, some at a time, so that they can be stored as they
   * arrive. The texts are passages unless `areQuestions` is set. Nobody waits for them: questions that somebody waits for
   * go first. Throws ModelFailure.
   */
  inBatches(texts: readonly string[], options?: BatchOptions): AsyncGenerator<Float32Array[], void>
  /** Does the same, and returns all vectors. */
  embed(texts: readonly string[], options?: BatchOptions): Promise<Float32Array[]>
  /**
   * Returns the vectors of questions that somebody waits for. Those of recent ones are remembered. A model that does not
   * answer within two seconds is away: questions then fail at once until it answers again. Throws ModelFailure.
   */
  embedQuestions(
    texts: readonly string[],
    owner?: Owner | null,
  ): Promise<{ vectors: Float32Array[]; use: EmbeddingUse }>
}

type BatchOptions = { signal?: AbortSignal | undefined; areQuestions?: boolean; owner?: Owner | null }

/** The way to a model. */
export type EmbeddingTransport = {
  /** The most texts of one call. */
  most: number
  /** How long a call with passages may take at first. */
  timeoutMs: number
  /** Returns a vector for each text, and the tokens that the server counted. */
  send(
    texts: readonly string[],
    lane: 'questions' | 'passages',
    signal: AbortSignal,
  ): Promise<{ vectors: Float32Array[]; tokens: number | null }>
}

type Settings = {
  name: string
  space: string
  title: string
  dimensions: number | null
  prefixes: Prefixes
  /** US dollars for a million tokens; null if it is not known. */
  price: number | null
  transport: EmbeddingTransport
  /** The lane of the server, which other models on it share. */
  lane: Lane
  recordUse?: (failure: ModelFailure | null) => void
  noteTokens?: (owner: Owner, kind: 'passages' | 'questions', use: EmbeddingUse) => void
  noteCall?: (call: Omit<EmbeddingCall, 'isLocal'>) => void
}

const TRIES = 4
/** Somebody waits: it is tried again only because a kept connection may just have been closed. */
const TRIES_OF_QUESTION = 2
const PAUSE_MS = 250
/** If a server asks for a longer pause, the next attempt of the job takes over. */
const MAX_PAUSE_MS = 60_000
const QUESTION_MS = 2_000

/** Returns how long to wait after this attempt has failed; the first is 1. */
export const pauseAfter = (attempt: number): number => PAUSE_MS * 2 ** (attempt - 1)

/**
 * Creates an embedder. Passages are sent in batches of about half a second, one after the other, so that a question waits
 * for one batch at most, also at a server that does one thing at a time. A batch that takes too long, or is refused, is
 * sent again in halves, down to one text.
 */
export function createEmbedder({
  name,
  space,
  title,
  dimensions,
  prefixes,
  price,
  transport,
  lane,
  recordUse = () => {},
  noteTokens = () => {},
  noteCall = () => {},
}: Settings): Embedder {
  const pace = createPace(transport.most, transport.timeoutMs)

  const countOf = (texts: readonly string[], tokens: number | null): EmbeddingUse => {
    const estimated = texts.reduce((sum, text) => sum + estimateTokens(text), 0)
    return {
      model: name,
      texts: texts.length,
      tokens: tokens ?? estimated,
      estimated: tokens === null ? estimated : 0,
      dollars: costOf(tokens ?? estimated, price),
    }
  }

  /** Sends the texts, again after a failure that may pass. `ms` is how long the answered request took. */
  const send = async (
    texts: readonly string[],
    kind: 'passages' | 'questions',
    { tries, timeoutMs, signal, owner }: Sending,
  ): Promise<{ vectors: Float32Array[]; use: EmbeddingUse; ms: number }> => {
    for (let attempt = 1; ; attempt++) {
      const begun = performance.now()
      const call = { owner: owner ?? null, model: name, startedAt: Date.now() }
      try {
        const limit = AbortSignal.timeout(timeoutMs)
        const { vectors, tokens } = await transport.send(
          texts,
          kind,
          signal ? AbortSignal.any([signal, limit]) : limit,
        )
        recordUse(null)
        const use = countOf(texts, tokens)
        if (owner) noteTokens(owner, kind, use)
        noteCall({ ...call, tokens: use.tokens, error: null })
        const ms = performance.now() - begun
        return { vectors: vectors.map((vector) => shortened(vector, dimensions)), use, ms }
      } catch (error) {
        const failure = asFailure(error)
        noteCall({ ...call, tokens: null, error: failure })
        const pause = failure.retryAfterMs ?? pauseAfter(attempt)
        const isOver = !failure.retryable || attempt === tries || signal?.aborted || pause > MAX_PAUSE_MS
        if (isOver || (kind === 'questions' && pause > PAUSE_MS)) throw failure
        await wait(pause, undefined, { signal }).catch(() => {
          throw asFailure(signal?.reason)
        })
      }
    }
  }

  const passagesInLane: Lane['passages'] = async (work, signal) => {
    try {
      return await lane.passages(work, signal)
    } catch (error) {
      throw asFailure(error)
    }
  }

  async function* inBatches(
    texts: readonly string[],
    { signal, areQuestions = false, owner = null }: BatchOptions = {},
  ): AsyncGenerator<Float32Array[], void> {
    const prefix = areQuestions ? prefixes.query : prefixes.passage
    let done = 0
    let numbers: number | null = null
    while (done < texts.length) {
      const vectors = await passagesInLane(async () => {
        const { size, timeoutMs } = pace.next()
        const batch = texts.slice(done, done + size).map((text) => prefix + text)
        try {
          const { vectors, ms } = await send(batch, 'passages', { tries: TRIES, timeoutMs, signal, owner })
          pace.took(batch.length, ms)
          return vectors
        } catch (error) {
          const failure = asFailure(error)
          if (signal?.aborted || !pace.failed(failure, batch.length)) {
            if (failure.kind !== 'aborted') recordUse(failure)
            throw failure
          }
          return []
        }
      }, signal)
      numbers ??= vectors[0]?.length ?? null
      if (vectors.some(({ length }) => length !== numbers))
        throw new ModelFailure('invalid_response', new Error('vectors of different sizes'))
      if (areQuestions)
        for (const [i, vector] of vectors.entries()) questions.keep(texts[done + i] ?? '', vector)
      done += vectors.length
      if (vectors.length > 0) yield vectors
    }
  }

  const questions = createQuestionVectors(
    async (texts, owner) => {
      const made: Float32Array[] = []
      const uses: EmbeddingUse[] = []
      const prefixed = texts.map((text) => prefixes.query + text)
      const signal = AbortSignal.timeout(QUESTION_MS)
      const timing = { tries: TRIES_OF_QUESTION, timeoutMs: QUESTION_MS, signal, owner }
      try {
        await lane.question(async () => {
          for (let from = 0; from < prefixed.length; from += transport.most) {
            const some = prefixed.slice(from, from + transport.most)
            const { vectors, use } = await send(some, 'questions', timing)
            made.push(...vectors)
            uses.push(use)
          }
        })
      } catch (error) {
        const failure = asFailure(error)
        if (failure.kind !== 'aborted') recordUse(failure)
        throw failure
      }
      return { vectors: made, use: sumOfUses(uses) }
    },
    countOf([], 0),
  )

  return {
    space,
    title,
    price,
    dimensions,
    inBatches,
    async embed(texts, options) {
      const all: Float32Array[] = []
      for await (const vectors of inBatches(texts, options)) all.push(...vectors)
      return all
    },
    embedQuestions: (texts, owner = null) => questions.of(texts, owner),
  }
}

type Sending = { tries: number; timeoutMs: number; signal: AbortSignal | undefined; owner: Owner | null }
