import { messageOf } from '../../platform/unknown-values.ts'
import { FolderFault } from '../embedding-folder/folder-fault.ts'
import { ModelFailure, networkCodeOf } from '../failures/model-failure.ts'

export type ProbedModel = { what: 'model' | 'embeddings' | 'reranker'; name: string; url: string | null }

/** Whether a model works, with a sentence that tells the operator what to do if it does not. */
export type Finding = { what: ProbedModel['what']; name: string; ok: boolean; sentence: string }

const TITLES = { model: 'Model', embeddings: 'Embeddings', reranker: 'Reranker' }
const MAX_DETAIL_LENGTH = 200

const titleOf = ({ what, name, url }: ProbedModel): string =>
  `${TITLES[what]} "${name}"${url ? ` at ${url}` : ''}`

/** The finding when only the built-in responder is there. */
export const NONE: Finding = {
  what: 'model',
  name: 'builtin',
  ok: true,
  sentence:
    'Model: none is configured, so the built-in responder quotes the documents. A language model would answer in its own words, in the language of the question, and use actions. To use one, set OPENAI_BASE_URL and OPENAI_MODEL: docs/operations/models.md.',
}

/** The finding when documents are searched by their words alone. */
export const NO_EMBEDDINGS: Finding = {
  what: 'embeddings',
  name: 'none',
  ok: true,
  sentence:
    'Embeddings: none are configured, so documents are searched by their words. An embedding model would also find what says the same in other words or in another language. To get one that runs on this machine: npm run parley -- models get',
}

export const answers = (asked: ProbedModel, how: string): Finding => ({
  what: asked.what,
  name: asked.name,
  ok: true,
  sentence: `${titleOf(asked)} ${how}`,
})

export const fails = (asked: ProbedModel, sentence: string): Finding => ({
  what: asked.what,
  name: asked.name,
  ok: false,
  sentence: `${titleOf(asked)} ${sentence}`,
})

/** Describes a failed call together with its remedy. */
export function failing(asked: ProbedModel, error: unknown): Finding {
  const failure = error instanceof ModelFailure ? error : new ModelFailure('unavailable', error)
  if (failure.cause instanceof FolderFault)
    // The sentence may contain the path of the folder, which only the operator may see.
    return fails(
      asked,
      asked.url ? failure.cause.message : 'cannot be run. The operator sees why with doctor.',
    )
  const said = failure.cause === undefined ? '' : messageOf(failure.cause)
  const { answer } = failure
  const detail = answer
    ? `${answer.status}: ${answer.words}`
    : said.replace(/\s+/g, ' ').trim().slice(0, MAX_DETAIL_LENGTH)
  switch (failure.kind) {
    case 'timeout':
    case 'aborted':
      return fails(
        asked,
        `did not answer in time. Wait until its server has loaded it, or raise ${timeoutOf(asked)}.`,
      )
    case 'rate_limited':
      return fails(
        asked,
        `takes no more requests at the moment (${detail}). Wait, or ask the provider for higher limits.`,
      )
    case 'unavailable': {
      const code = networkCodeOf(failure)
      if (code)
        return fails(asked, `cannot be reached (${code}). Start its server, or correct ${addressOf(asked)}.`)
      return fails(asked, `failed (${detail}). Look at the log of its server.`)
    }
    case 'rejected':
      if (answer?.status === 401 || answer?.status === 403) return wrongKey(asked)
      if (answer?.status === 404)
        return fails(
          asked,
          `is not known there (${detail}). Correct its name, or ${addressOf(asked)}, which usually ends with /v1.`,
        )
      return fails(asked, `refused the request (${detail}).`)
    case 'invalid_response':
      return fails(
        asked,
        `sent what cannot be used (${detail}). Check that ${addressOf(asked)} is that of such a model.`,
      )
  }
}

export const wrongKey = (asked: ProbedModel): Finding =>
  fails(asked, 'refused the key. Correct OPENAI_API_KEY, or apiKey or apiKeyEnv in MODELS_FILE.')

const addressOf = ({ what }: ProbedModel): string =>
  what === 'reranker' ? 'baseUrl in MODELS_FILE' : 'OPENAI_BASE_URL, or baseUrl in MODELS_FILE'

const timeoutOf = ({ what }: ProbedModel): string =>
  what === 'reranker'
    ? 'its timeout in MODELS_FILE'
    : what === 'model'
      ? 'timeouts.firstToken in MODELS_FILE'
      : 'its limits'
