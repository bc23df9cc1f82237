import type { Logger } from 'pino'
import type { Models } from '../models.ts'
import { modelsFolder } from './fetched-models.ts'
import { GetFailure } from './get-failure.ts'
import { getModel, hubOf, type Progress } from './get-model.ts'
import type { HubModel } from './hub-models.ts'

type ModelFetcher = {
  models: readonly HubModel[]
  /** What is being fetched; null for nothing. */
  fetching(): ({ model: string } & Progress) | null
  /** Why the last attempt failed; null if it did not. */
  problem(): string | null
  /** Begins to fetch a model, unless one is being fetched. */
  begin(model: HubModel): void
  /** Calls the listener whenever another model is in use than before. */
  onAdopted(listener: () => void): void
  /** Ends what is being fetched; what is there is kept. */
  close(): Promise<void>
}

/** How often a process looks for what a command, or another process, has fetched. */
const POLL_MS = 5_000
const UNEXPECTED = 'It failed for a reason that the log of the service has.'

/** Fetches embedding models while the service runs, and has it use what was fetched. */
export function createModelFetcher({
  dataDir,
  models,
  log,
  known,
}: {
  dataDir: string
  models: Pick<Models, 'adoptFetched'>
  log: Logger
  known: readonly HubModel[]
}): ModelFetcher {
  const closing = new AbortController()
  let running: Promise<void> | null = null
  let fetching: ReturnType<ModelFetcher['fetching']> = null
  let problem: string | null = null
  const listeners: (() => void)[] = []
  const adopt = (): void => {
    if (models.adoptFetched()) for (const listener of listeners) listener()
  }
  const looking = setInterval(adopt, POLL_MS).unref()

  const fetch = async (model: HubModel): Promise<void> => {
    try {
      await getModel({
        folder: modelsFolder(dataDir),
        model,
        hub: hubOf(process.env),
        say: (line) => log.info(line),
        onProgress: (progress) => {
          fetching = { model: model.name, ...progress }
        },
        signal: closing.signal,
      })
      adopt()
      log.info({ model: model.name }, 'the embedding model was fetched and is in use')
    } catch (error) {
      if (closing.signal.aborted) return
      problem = error instanceof GetFailure ? error.message : UNEXPECTED
      log.warn({ err: error, model: model.name }, 'the embedding model could not be fetched')
    } finally {
      fetching = null
      running = null
    }
  }

  return {
    models: known,
    fetching: () => fetching,
    problem: () => problem,
    begin(model) {
      if (running || closing.signal.aborted) return
      problem = null
      fetching = { model: model.name, step: 'model', done: 0, total: 0 }
      running = fetch(model)
    },
    onAdopted: (listener) => void listeners.push(listener),
    async close() {
      clearInterval(looking)
      closing.abort()
      await running
    },
  }
}
