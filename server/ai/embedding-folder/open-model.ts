import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { messageOf } from '../../platform/unknown-values.ts'
import { FolderFault } from './folder-fault.ts'
import { hashOfFolder, modelFileOf, POOLING, settingsIn, TOKENIZER } from './folder-files.ts'
import type { Runtime } from './runtime.ts'

type Tensor = { type: string; dims: readonly number[]; data: unknown }
type Port = { name: string; type?: string; shape?: readonly (number | string)[] }
type Session = {
  inputMetadata: readonly Port[]
  outputMetadata: readonly Port[]
  run(
    inputs: Record<string, unknown>,
    outputs: readonly string[],
  ): Promise<Record<string, Tensor | undefined>>
}
type Onnx = {
  InferenceSession: { create(path: string, options: object): Promise<Session> }
  Tensor: new (type: 'int64', values: BigInt64Array, dims: number[]) => Tensor
}
/** The package `tokenizers`. */
type NativeTokenizer = {
  setTruncation(most: number): void
  disablePadding(): void
  encode(text: string): Promise<{ getIds(): number[] }>
}
/** The package `@huggingface/tokenizers`. */
type ScriptTokenizer = { encode(text: string): { ids: number[] } }
type Tokenizers = {
  Tokenizer:
    | { fromFile(path: string): NativeTokenizer }
    | (new (
        tokenizer: object,
        settings: object,
      ) => ScriptTokenizer)
}

export type ModelOrder = { folder: string; hash: string; runtime: Runtime; threads: number }

export type Model = {
  /**
   * Returns the tokens of a text with the special tokens that the model expects around it, as many as the model can
   * read.
   */
  tokensOf(text: string): Promise<readonly number[]>
  /** Returns the model's output for the tokens, and how many numbers belong to one token. */
  run(tokens: readonly number[]): Promise<{ values: Float32Array; size: number }>
  /** How the vectors of the tokens become one vector. `none` means that the model does it. */
  pooling: 'mean' | 'cls' | 'none'
}

/** Longer texts are cut, because the time grows with the square of the length and most models read no more. */
const MAX_TOKENS = 512
/** A text with more characters per token is cut before its tokens are counted. */
const MAX_TOKEN_LENGTH = 32
const IDS = 'input_ids'
const INPUTS = [IDS, 'attention_mask', 'token_type_ids']
const WHOLE = 'sentence_embedding'
const LOG_ERRORS_ONLY = 3

/** Loads the model of a folder. Throws FolderFault when it is not an embedding model that can be run here. */
export async function openModel({ folder, hash, runtime, threads }: ModelOrder): Promise<Model> {
  if (hashOfFolder(folder) !== hash)
    throw new FolderFault('has changed since the service was started. Start it again.')
  const require = createRequire(import.meta.url)
  const { InferenceSession, Tensor }: Onnx = await loading('onnxruntime-node', () => require(runtime.onnx))
  const session = await loading('model', () =>
    InferenceSession.create(modelFileOf(folder), {
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      logSeverityLevel: LOG_ERRORS_ONLY,
    }),
  )
  const { output, pooling } = checked(session, folder)
  const names = session.inputMetadata.map(({ name }) => name)
  const most = maxTokens(folder)
  const tokensOf = await loading('tokenizer', () => openTokenizer(folder, most, require(runtime.tokenizers)))
  return {
    pooling,
    tokensOf: (text) => tokensOf(text.slice(0, most * MAX_TOKEN_LENGTH)),
    async run(tokens) {
      const valuesOf = (name: string, index: number): bigint =>
        name === IDS ? BigInt(tokens[index] ?? 0) : name === 'attention_mask' ? 1n : 0n
      const inputs = names.map((name) => {
        const values = BigInt64Array.from({ length: tokens.length }, (_, index) => valuesOf(name, index))
        return [name, new Tensor('int64', values, [1, tokens.length])] as const
      })
      const made = await loading('model', () => session.run(Object.fromEntries(inputs), [output]))
      const { data, dims } = made[output]!
      const size = dims.at(-1) ?? 0
      const expected = size * (pooling === 'none' ? 1 : tokens.length)
      if (!(data instanceof Float32Array) || size === 0 || data.length !== expected)
        throw new FolderFault(
          `has a model whose output "${output}" is of the shape ${dims.join(' x ')} for ${tokens.length} tokens. Take an embedding model.`,
        )
      return { values: data, size }
    },
  }
}

/** Returns a function that makes at most `most` tokens of a text. The token that ends every text is kept. */
function openTokenizer(folder: string, most: number, { Tokenizer }: Tokenizers): Model['tokensOf'] {
  const path = join(folder, TOKENIZER)
  if ('fromFile' in Tokenizer) {
    const tokenizer = Tokenizer.fromFile(path)
    tokenizer.setTruncation(most)
    tokenizer.disablePadding()
    return async (text) => (await tokenizer.encode(text)).getIds()
  }
  const settings = settingsIn(folder, 'tokenizer_config.json')
  const tokenizer = new Tokenizer(JSON.parse(readFileSync(path, 'utf8')), settings)
  const last = tokenizer.encode('').ids.at(-1)
  return async (text) => {
    const { ids } = tokenizer.encode(text)
    if (ids.length <= most) return ids
    return last === undefined ? ids.slice(0, most) : [...ids.slice(0, most - 1), last]
  }
}

/** Returns the output of the session. Throws FolderFault when it is not vectors of a text. */
function checked({ inputMetadata, outputMetadata }: Session, folder: string) {
  const names = inputMetadata.map(({ name }) => name)
  const other = names.find((name) => !INPUTS.includes(name))
  if (!names.includes(IDS) || other)
    throw new FolderFault(
      `has a model with the inputs ${names.join(', ')}. An embedding model of texts has ${IDS} and perhaps ${INPUTS.slice(1).join(' and ')}.`,
    )
  const wrong = inputMetadata.find(({ type }) => type !== 'int64')
  if (wrong)
    throw new FolderFault(`has a model whose input ${wrong.name} is ${wrong.type}, and must be int64.`)
  const whole = outputMetadata.find(({ name }) => name === WHOLE)
  const found = whole ?? outputMetadata.find(({ shape }) => shape?.length === 3)
  if (!found)
    throw new FolderFault(
      `has a model with the outputs ${outputMetadata.map(({ name }) => name).join(', ')}. An embedding model has ${WHOLE}, or the vectors of the tokens with three dimensions.`,
    )
  if (found.type !== 'float32')
    throw new FolderFault(
      `has a model whose output ${found.name} is ${found.type}. Take its variant with float32.`,
    )
  return { output: found.name, pooling: whole ? ('none' as const) : poolingOf(folder) }
}

function poolingOf(folder: string): 'mean' | 'cls' {
  const modules = settingsIn(folder, 'modules.json')
  const types = (Array.isArray(modules) ? modules : []).map((one: { type?: unknown }) => String(one?.type))
  const layer = types.find((type) => !/\.(?:Transformer|Pooling|Normalize)$/.test(type))
  if (layer)
    throw new FolderFault(
      `has a model whose modules.json has the layer ${layer}. Take its variant with the output ${WHOLE}.`,
    )
  const modes = Object.entries(settingsIn(folder, POOLING)).flatMap(([name, isOn]) =>
    name.startsWith('pooling_mode_') && isOn === true ? [name.slice('pooling_mode_'.length)] : [],
  )
  const [mode = 'mean_tokens', ...more] = modes
  if (more.length === 0 && mode === 'mean_tokens') return 'mean'
  if (more.length === 0 && mode === 'cls_token') return 'cls'
  throw new FolderFault(
    `has a model whose ${POOLING} asks for ${modes.join(' with ')}. It can be mean_tokens or cls_token.`,
  )
}

function maxTokens(folder: string): number {
  const limits = [
    settingsIn(folder, 'sentence_bert_config.json').max_seq_length,
    settingsIn(folder, 'tokenizer_config.json').model_max_length,
    settingsIn(folder, 'config.json').max_position_embeddings,
  ]
  return Math.min(MAX_TOKENS, ...limits.map(Number).filter((limit) => limit > 1))
}

async function loading<Result>(what: string, load: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await load()
  } catch (error) {
    if (error instanceof FolderFault) throw error
    const said = messageOf(error).replace(/\s+/g, ' ').trim()
    throw new FolderFault(`has a ${what} that fails: ${said}`)
  }
}
