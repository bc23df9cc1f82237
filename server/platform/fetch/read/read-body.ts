import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { codeOf } from '../../unknown-values.ts'
import { FetchFailure } from '../failures/fetch-failure.ts'

type Unpack = (data: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>

const unpackers: Record<string, Unpack> = {
  gzip: promisify(zlib.gunzip),
  'x-gzip': promisify(zlib.gunzip),
  br: promisify(zlib.brotliDecompress),
  deflate: (data, options) =>
    // "deflate" means zlib, but some servers send the raw stream. The low four bits of a zlib header are always 8.
    promisify(((data[0] ?? 0) & 15) === 8 ? zlib.inflate : zlib.inflateRaw)(data, options),
}

export const acceptedEncodings = 'gzip, deflate, br'

// The bytes that compression may add to incompressible data.
const framingBytes = 65_536

/**
 * Reads and decompresses the body of a response. Neither the received nor the decompressed bytes exceed `maxBytes`;
 * beyond it, this throws FetchFailure `too_large`. A damaged or unknown compression is `bad_response`.
 */
export async function readBody(
  stream: AsyncIterable<Uint8Array>,
  contentEncoding: string | undefined,
  maxBytes: number,
): Promise<Uint8Array> {
  const encodings = (contentEncoding ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity')
  if (encodings.length > 2 || encodings.some((name) => !Object.hasOwn(unpackers, name)))
    throw new FetchFailure('bad_response', 'The server used a compression that was not requested.')

  const received = await collect(stream, encodings.length > 0 ? maxBytes + framingBytes : maxBytes, maxBytes)
  let body = received
  for (const name of encodings.reverse()) {
    if (body.length > 0) body = await unpack(unpackers[name]!, body, maxBytes)
  }
  return body
}

async function collect(
  stream: AsyncIterable<Uint8Array>,
  limit: number,
  maxBytes: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of stream) {
    length += chunk.length
    if (length > limit) throw tooLarge(maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, length)
}

async function unpack(unpacker: Unpack, data: Uint8Array, maxBytes: number): Promise<Uint8Array> {
  try {
    return await unpacker(data, { maxOutputLength: maxBytes })
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxBytes)
    throw new FetchFailure('bad_response', 'The server sent a damaged compressed response.', error)
  }
}

/** Returns the failure for a response that exceeds `maxBytes`. */
export function tooLarge(maxBytes: number): FetchFailure {
  const size =
    maxBytes >= 1_048_576 ? `${+(maxBytes / 1_048_576).toFixed(1)} MB` : `${Math.ceil(maxBytes / 1024)} KB`
  return new FetchFailure('too_large', `The response is larger than the ${size} that are accepted.`)
}
