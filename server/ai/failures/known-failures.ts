import type { Db } from '../../platform/db/database.ts'
import { addSetting, dropFromSetting, extendSetting, readSetting } from '../../platform/db/settings.ts'
import { failing } from '../catalogue/model-remedy.ts'
import { type ModelFailure, whatHappened } from './model-failure.ts'

type UsedModel = { what: 'model' | 'embeddings'; name: string }

/**
 * The models whose last call failed, in any process of the installation: whoever looks after an agent is told, although
 * another process may have made the call.
 */
export type KnownFailures = {
  note(used: UsedModel, failure: ModelFailure | null): void
  /** Returns what happened in a sentence, or null when the last call did not fail. */
  read(): Promise<(used: UsedModel) => string | null>
  /** Resolves when everything noted is stored. */
  close(): Promise<void>
}

const NAME = 'model-failures'
/** An unchanged state is stored again after this time, because another process may have overwritten it. */
const FRESH_MS = 60_000

const keyOf = ({ what, name }: UsedModel): string => `${what} ${name}`

/** The sentence must not contain addresses: members of every account read it. */
const sentenceOf = ({ what, name }: UsedModel, failure: ModelFailure): string =>
  what === 'model' ? `${whatHappened(failure)}.` : failing({ what, name, url: null }, failure).sentence

export function createKnownFailures(db: Db, onError: (error: unknown) => void): KnownFailures {
  const noted = new Map<string, { sentence: string | null; at: number }>()
  let stored: Promise<void> = Promise.resolve()
  const store = async (key: string, sentence: string | null): Promise<void> => {
    if (sentence === null) return dropFromSetting(db, NAME, key)
    await addSetting(db, NAME, {})
    await extendSetting(db, NAME, { [key]: sentence })
  }
  return {
    note(used, failure) {
      const key = keyOf(used)
      const sentence = failure && sentenceOf(used, failure)
      const before = noted.get(key)
      if (before?.sentence === sentence && performance.now() - before.at < FRESH_MS) return
      noted.set(key, { sentence, at: performance.now() })
      stored = stored.then(() => store(key, sentence)).catch(onError)
    },
    async read() {
      await stored
      const failures = ((await readSetting(db, NAME)) ?? {}) as Record<string, string>
      return (used) => failures[keyOf(used)] ?? null
    },
    close: () => stored,
  }
}
