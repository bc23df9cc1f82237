import { normalised } from '../embeddings/normalised.ts'
import { FolderFault } from './folder-fault.ts'
import { type Model, type ModelOrder, openModel } from './open-model.ts'

export type EmbedOrder = ModelOrder & { text: string }
export type EmbedPiece = { vector: Float32Array } | { fault: string }

/** The model stays loaded for further texts. A process has one model for its whole life. */
let opened: Promise<Model> | null = null

/** Yields the vector of one text, or the reason why there is none. */
export async function* work(order: EmbedOrder): AsyncGenerator<EmbedPiece> {
  try {
    opened ??= openModel(order)
    yield { vector: await vectorOf(await opened, order.text) }
  } catch (error) {
    if (!(error instanceof FolderFault)) throw error
    yield { fault: error.message }
  }
}

/**
 * Returns the vector of a text. Each text is run alone: on a processor, padding several to one length saves no time, and
 * with some models it changes their vectors.
 */
async function vectorOf({ tokensOf, run, pooling }: Model, text: string): Promise<Float32Array> {
  const { values, size } = await run(await tokensOf(text))
  const vector = normalised(pooling === 'mean' ? sumOf(values, size) : values.subarray(0, size))
  if (!vector.every(Number.isFinite)) throw new FolderFault('has a model that makes no numbers of a text.')
  return vector
}

/** Returns the sum of the vectors of all tokens, which has the direction of their mean. */
function sumOf(values: Float32Array, size: number): Float64Array {
  const sum = new Float64Array(size)
  for (const [index, value] of values.entries()) sum[index % size] = (sum[index % size] ?? 0) + value
  return sum
}
