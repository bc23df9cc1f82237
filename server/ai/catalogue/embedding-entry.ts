import { basename, resolve } from 'node:path'
import Type, { type Static } from 'typebox'
import { Exact } from '../../platform/http/contract.ts'
import { FolderFault } from '../embedding-folder/folder-fault.ts'
import { hashOfFolder } from '../embedding-folder/folder-files.ts'
import { type Prefixes, prefixesOf } from '../embeddings/embedding-prefixes.ts'
import { inputPriceOf } from './known-models.ts'

/** An embedding model of MODELS_FILE: `folder`, or a server with `name` and `baseUrl`. */
export const FileEmbedding = Exact({
  name: Type.Optional(Type.String({ minLength: 1 })),
  folder: Type.Optional(Type.String({ minLength: 1, description: 'The folder of an ONNX model' })),
  baseUrl: Type.Optional(Type.String({ pattern: '^https?://' })),
  apiKey: Type.Optional(Type.String({ minLength: 1 })),
  apiKeyEnv: Type.Optional(Type.String({ minLength: 1 })),
  dimensions: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
  queryPrefix: Type.Optional(
    Type.String({ maxLength: 500, description: "Before each question; default: by the model's name" }),
  ),
  passagePrefix: Type.Optional(
    Type.String({ maxLength: 500, description: "Before each passage; default: by the model's name" }),
  ),
  price: Type.Optional(
    Type.Number({ minimum: 0, description: 'US dollars for a million tokens; default: if it is known' }),
  ),
})

/** An embedding model on a server with OpenAI's API. */
export type EmbeddingServer = {
  name: string
  baseUrl: string
  apiKey: string | null
  dimensions: number | null
  prefixes: Prefixes
  /** US dollars for a million tokens; null or absent if it is not known. */
  price?: number | null
}

/** An embedding model that runs in a child process of the service. */
export type EmbeddingFolder = {
  name: string
  /** The absolute path of the folder with the model's files. */
  folder: string
  /** The hash of the files when the service was started. */
  hash: string
  prefixes: Prefixes
}

export type EmbeddingEntry = EmbeddingServer | EmbeddingFolder

export type EmbeddingVariables = {
  baseUrl: string | null
  apiKey: string | null
  embeddingModel: string | null
  embeddingFolder?: string | null
  /** null means the prefix that is known for the model's name. */
  queryPrefix?: string | null
  passagePrefix?: string | null
}

export const OPENAI = 'https://api.openai.com/v1'
/** The settings that have a meaning for a server only. */
const OF_SERVERS = ['baseUrl', 'apiKey', 'apiKeyEnv', 'dimensions', 'price'] as const

/**
 * Converts an entry of MODELS_FILE to the form that the service uses. Returns null and adds a problem when it cannot
 * be used.
 */
export function embeddingInFile(
  owner: 'embedding' | 'formerEmbedding',
  given: Static<typeof FileEmbedding>,
  apiKey: string | null,
  problems: string[],
): EmbeddingEntry | null {
  const { name, folder, baseUrl, dimensions = null, queryPrefix, passagePrefix, price } = given
  if (folder !== undefined) {
    const idle = OF_SERVERS.find((key) => given[key] !== undefined)
    if (idle) problems.push(`MODELS_FILE: ${owner} has a folder, beside which ${idle} has no effect.`)
    return inFolder(`MODELS_FILE: ${owner}`, { name, folder, queryPrefix, passagePrefix }, problems)
  }
  if (name !== undefined && baseUrl !== undefined)
    return {
      name,
      baseUrl,
      apiKey,
      dimensions,
      prefixes: chosen(name, queryPrefix, passagePrefix),
      price: price ?? knownPrice(name, baseUrl),
    }
  problems.push(`MODELS_FILE: ${owner} needs name and baseUrl, or a folder.`)
  return null
}

/** Returns the embedding model that EMBEDDING_MODEL or EMBEDDING_FOLDER names; null for none. */
export function variableEmbedding(
  {
    baseUrl,
    apiKey,
    embeddingModel: name,
    embeddingFolder: folder,
    queryPrefix,
    passagePrefix,
  }: EmbeddingVariables,
  problems: string[],
): EmbeddingEntry | null {
  if (name && folder) problems.push('EMBEDDING_MODEL, EMBEDDING_FOLDER: only one of them can be set.')
  if (folder) return inFolder('EMBEDDING_FOLDER', { folder, queryPrefix, passagePrefix }, problems)
  if (!name) return null
  const prefixes = chosen(name, queryPrefix, passagePrefix)
  const address = baseUrl ?? OPENAI
  return { name, baseUrl: address, apiKey, dimensions: null, prefixes, price: knownPrice(name, address) }
}

const knownPrice = (name: string, baseUrl: string): number | null =>
  isOpenAiItself(baseUrl) ? inputPriceOf('openai', name) : null

export const isOpenAiItself = (baseUrl: string | undefined): boolean =>
  baseUrl === undefined || URL.parse(baseUrl)?.hostname === new URL(OPENAI).hostname

function inFolder(
  setting: string,
  given: {
    name?: string | undefined
    folder: string
    queryPrefix: string | null | undefined
    passagePrefix: string | null | undefined
  },
  problems: string[],
): EmbeddingFolder | null {
  const folder = resolve(given.folder)
  const name = given.name ?? basename(folder)
  try {
    const prefixes = chosen(name, given.queryPrefix, given.passagePrefix)
    return { name, folder, hash: hashOfFolder(folder), prefixes }
  } catch (error) {
    if (!(error instanceof FolderFault)) throw error
    problems.push(`${setting}: the folder ${folder} ${error.message}`)
    return null
  }
}

function chosen(name: string, query?: string | null, passage?: string | null): Prefixes {
  const usual = prefixesOf(name)
  return { query: query ?? usual.query, passage: passage ?? usual.passage }
}
