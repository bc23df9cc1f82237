import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EmbeddingFolder } from '../catalogue/embedding-entry.ts'
import { prefixesOf } from '../embeddings/embedding-prefixes.ts'

/** What was fetched, the model in use first. The hashes spare each start from reading the files. */
type Record = { models: { name: string; revision: string; hash: string }[] }

export const modelsFolder = (dataDir: string): string => join(dataDir, 'models')

const recordIn = (folder: string): string => join(folder, 'models.json')

/** Returns the models that were fetched into the folder and are whole, the one in use first. */
export function fetchedModels(folder: string): EmbeddingFolder[] {
  return read(folder).models.flatMap(({ name, hash }) => {
    const path = join(folder, name)
    return existsSync(path) ? [{ name, folder: path, hash, prefixes: prefixesOf(name) }] : []
  })
}

/** Notes that a model is whole, and is the one to use. */
export function noteFetched(folder: string, model: Record['models'][number]): void {
  const others = read(folder).models.filter(({ name }) => name !== model.name)
  const path = recordIn(folder)
  writeFileSync(`${path}.new`, `${JSON.stringify({ models: [model, ...others] }, null, 2)}\n`)
  renameSync(`${path}.new`, path)
}

function read(folder: string): Record {
  try {
    const { models }: Partial<Record> = JSON.parse(readFileSync(recordIn(folder), 'utf8'))
    const isWhole = (one: Partial<Record['models'][number]> | null): boolean =>
      typeof one?.name === 'string' && typeof one.hash === 'string'
    return { models: Array.isArray(models) ? models.filter(isWhole) : [] }
  } catch {
    // Nothing was fetched yet.
    return { models: [] }
  }
}
