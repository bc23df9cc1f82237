import { inflateRawSync } from 'node:zlib'
import { ExtractFailure } from './extract-failure.ts'

const broken = (cause?: unknown) =>
  new ExtractFailure(
    'broken',
    'This file is damaged: its archive cannot be opened. Save it again and retry.',
    cause,
  )

/**
 * Unpacks every entry, never more than `maxBytes` of all together, whatever the archive claims, and answers those whose
 * name `wanted` accepts. A reader that trusts the archive may follow. Throws ExtractFailure `too_large` or `broken`.
 */
export function readZip(
  bytes: Uint8Array,
  wanted: (name: string) => boolean,
  maxBytes: number,
): Map<string, Uint8Array> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const files = new Map<string, Uint8Array>()
  let left = maxBytes
  try {
    const end = file.lastIndexOf('PK\x05\x06', undefined, 'latin1')
    if (end < 0) throw broken()
    let at = file.readUInt32LE(end + 16)
    for (let count = file.readUInt16LE(end + 10); count > 0; count -= 1) {
      if (file.readUInt32LE(at) !== 0x02014b50) throw broken()
      const method = file.readUInt16LE(at + 10)
      const size = file.readUInt32LE(at + 20)
      const nameLength = file.readUInt16LE(at + 28)
      const name = file.toString('utf8', at + 46, at + 46 + nameLength)
      const local = file.readUInt32LE(at + 42)
      at += 46 + nameLength + file.readUInt16LE(at + 30) + file.readUInt16LE(at + 32)
      const start = local + 30 + file.readUInt16LE(local + 26) + file.readUInt16LE(local + 28)
      const packed = file.subarray(start, start + size)
      const data = method === 0 ? packed : inflateRawSync(packed, { maxOutputLength: Math.max(left, 1) })
      left -= data.length
      if (left < 0) throw tooLarge()
      if (wanted(name)) files.set(name, data)
    }
  } catch (error) {
    if (error instanceof ExtractFailure) throw error
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge()
    throw broken(error)
  }
  return files
}

function tooLarge(): ExtractFailure {
  return new ExtractFailure(
    'too_large',
    'This file unpacks to more text than is accepted. Split it into smaller files.',
  )
}
