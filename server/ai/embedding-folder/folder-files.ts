import { createHash, type Hash } from 'node:crypto'
import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { messageOf } from '../../platform/unknown-values.ts'
import { FolderFault } from './folder-fault.ts'

/** Hugging Face keeps the model in either place. */
const MODELS = ['model.onnx', join('onnx', 'model.onnx')]
export const TOKENIZER = 'tokenizer.json'
export const POOLING = join('1_Pooling', 'config.json')
/** Further files that affect the vectors. */
const SETTINGS = [
  'config.json',
  'modules.json',
  'sentence_bert_config.json',
  'tokenizer_config.json',
  POOLING,
]
const HASH_DIGITS = 16
const READ_BYTES = 1_048_576

/** Returns the path of the model's file. Throws FolderFault when a necessary file is missing. */
export function modelFileOf(folder: string): string {
  if (!existsSync(folder)) throw new FolderFault('does not exist.')
  const model = MODELS.map((name) => join(folder, name)).find((path) => existsSync(path))
  if (!model) throw new FolderFault(`has no model.onnx, nor ${MODELS[1]}.`)
  if (!existsSync(join(folder, TOKENIZER))) throw new FolderFault(`has no ${TOKENIZER}.`)
  return model
}

/** Returns the bytes of the model's files. */
export const bytesOfModel = (folder: string): number =>
  weightsOf(modelFileOf(folder)).reduce((sum, path) => sum + statSync(path).size, 0)

/** Returns a hash of all files that determine the vectors. Throws FolderFault. */
export function hashOfFolder(folder: string): string {
  const hash = createHash('sha256')
  const others = [TOKENIZER, ...SETTINGS].map((name) => join(folder, name)).filter((path) => existsSync(path))
  for (const path of [...weightsOf(modelFileOf(folder)), ...others]) {
    try {
      hash.update(`${relative(folder, path)}\n`)
      addFile(hash, path)
    } catch (error) {
      throw new FolderFault(`has a file that cannot be read: ${messageOf(error)}.`)
    }
  }
  return hash.digest('hex').slice(0, HASH_DIGITS)
}

/** Returns the settings in a JSON file of the folder; an empty object when there is none. Throws FolderFault. */
export function settingsIn(folder: string, name: string): Record<string, unknown> {
  const path = join(folder, name)
  if (!existsSync(path)) return {}
  try {
    return JSON.parse(readFileSync(path, 'utf8')) ?? {}
  } catch (error) {
    throw new FolderFault(`has a ${name} that cannot be read: ${messageOf(error)}.`)
  }
}

/** Models of more than 2 GB, and some smaller ones, store their weights in a separate file. */
const weightsOf = (model: string): string[] =>
  [model, `${model}_data`, `${model}.data`].filter((path) => existsSync(path))

/** A model is not read as a whole, because it may be as large as the memory of the service. */
function addFile(hash: Hash, path: string): void {
  const file = openSync(path, 'r')
  try {
    const piece = Buffer.allocUnsafe(READ_BYTES)
    hash.update(`${statSync(path).size}\n`)
    for (let read = readSync(file, piece); read > 0; read = readSync(file, piece))
      hash.update(piece.subarray(0, read))
  } finally {
    closeSync(file)
  }
}
