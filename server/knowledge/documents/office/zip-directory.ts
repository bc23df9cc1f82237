import { inflateRawSync } from 'node:zlib'
import { ExtractFailure } from '../extract-failure.ts'

type ZipEntry = { name: string; size: number; read(): Buffer }

const END = Buffer.from('PK\x05\x06', 'latin1')
const ENTRY = 0x02014b50
const ENTRY_BYTES = 46
const LOCAL = 0x04034b50
const LOCAL_BYTES = 30
const LARGE_SIZES = 0x0001
const ENCRYPTED = 0x0001
const DEFLATED = 8
const MAX_ENTRIES = 10_000
/** Text compresses to between a tenth and a fiftieth. From this size on, anything with a higher ratio is not text. */
const RATIO_MATTERS = 4 * 1_048_576
const HIGHEST_RATIO = 300

/**
 * Returns the entries of a zip archive from its central directory, which nothing else in it may contradict. Programs
 * differ in what they trust, so the parsers get a new archive of what is read here. Throws ExtractFailure.
 */
export function zipDirectory(bytes: Uint8Array): ZipEntry[] {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  try {
    const end = file.lastIndexOf(END)
    const count = file.readUInt16LE(end + 10)
    if (end < 0 || count > MAX_ENTRIES) throw damaged('no directory')
    const entries: ZipEntry[] = []
    let at = file.readUInt32LE(end + 16)
    while (file.readUInt32LE(at) === ENTRY) {
      entries.push(entryAt(file, at))
      at += ENTRY_BYTES + [28, 30, 32].reduce((sum, field) => sum + file.readUInt16LE(at + field), 0)
    }
    if (entries.length !== count || new Set(entries.map(({ name }) => name)).size < count)
      throw damaged('another number of entries, or two of one name')
    return entries
  } catch (error) {
    throw error instanceof ExtractFailure ? error : damaged(error)
  }
}

function entryAt(file: Buffer, at: number): ZipEntry {
  const nameEnd = at + ENTRY_BYTES + file.readUInt16LE(at + 28)
  const name = file.subarray(at + ENTRY_BYTES, nameEnd)
  const large = largeSizes(file.subarray(nameEnd, nameEnd + file.readUInt16LE(at + 30)))
  const next = (field: number): number => {
    const value = file.readUInt32LE(at + field)
    return value === 0xffffffff ? (large.shift() ?? value) : value
  }
  const [size, packed, local] = [next(24), next(20), next(42)]
  const nameAt = local + LOCAL_BYTES
  const start = nameAt + file.readUInt16LE(local + 26) + file.readUInt16LE(local + 28)
  const isSound =
    start + packed <= file.length &&
    file.readUInt32LE(local) === LOCAL &&
    (file.readUInt16LE(at + 8) & ENCRYPTED) === 0 &&
    file.subarray(nameAt, nameAt + name.length).equals(name)
  if (!isSound) throw damaged('an entry that is encrypted or elsewhere')
  const isDeflated = file.readUInt16LE(at + 10) === DEFLATED
  const read = (): Buffer => unpack(file.subarray(start, start + packed), size, isDeflated)
  return { name: name.toString('utf8'), size, read }
}

/** Reads the 64-bit numbers that replace fields with all bits set. */
function largeSizes(extra: Buffer): number[] {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== LARGE_SIZES) continue
    const data = extra.subarray(at + 4, at + 4 + extra.readUInt16LE(at + 2))
    return Array.from({ length: Math.floor(data.length / 8) }, (_, i) => Number(data.readBigUInt64LE(i * 8)))
  }
  return []
}

function unpack(data: Buffer, size: number, isDeflated: boolean): Buffer {
  if (size > RATIO_MATTERS && size > data.length * HIGHEST_RATIO)
    throw new ExtractFailure('too_large', 'This file unpacks to far more data than a document contains.')
  try {
    const unpacked = isDeflated ? inflateRawSync(data, { maxOutputLength: Math.max(size, 1) }) : data
    if (unpacked.length === size) return unpacked
  } catch (error) {
    throw damaged(error)
  }
  throw damaged('an entry of another size than the directory says')
}

const damaged = (cause: unknown): ExtractFailure =>
  new ExtractFailure(
    'broken',
    'This file is damaged: its archive cannot be opened. Save it again and retry.',
    cause,
  )
