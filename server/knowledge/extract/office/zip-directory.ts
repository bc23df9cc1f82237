import { inflateRawSync } from 'node:zlib'
import { ExtractFailure } from '../extract-failure.ts'

type ZipEntry = { name: string; size: number; read(): Buffer }

const END = Buffer.from('PK\x05\x06', 'latin1')
const END_BYTES = 22
const LONGEST_COMMENT = 0xffff
/** The end record of a large archive, and the record that locates it. */
const LARGE_END = 0x06064b50
const LARGE_END_BYTES = 56 + 20
const ENTRY = 0x02014b50
const ENTRY_BYTES = 46
const LOCAL = 0x04034b50
const LOCAL_BYTES = 30
const LARGE_SIZES = 0x0001
const ENCRYPTED = 0x0001
const STORED = 0
const DEFLATED = 8
const MOST_ENTRIES = 10_000
/** Text compresses to between a tenth and a fiftieth. From this size on, anything with a higher ratio is not text. */
const RATIO_MATTERS = 4 * 1_048_576
const HIGHEST_RATIO = 300

/**
 * Returns the entries of a zip archive from its central directory. Readers differ in what they trust in an archive that
 * contradicts itself, so any contradiction is an error: a directory whose length differs from the end record, local
 * headers with other names, overlapping entries, or wrong sizes. Throws ExtractFailure.
 */
export function zipDirectory(bytes: Uint8Array): ZipEntry[] {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  try {
    const entries = entriesOf(file)
    refuseOverlaps(entries)
    if (new Set(entries.map(({ name }) => name)).size < entries.length)
      throw damaged('two entries of one name')
    return entries.map((entry) => ({ name: entry.name, size: entry.size, read: () => unpack(file, entry) }))
  } catch (error) {
    throw error instanceof ExtractFailure ? error : damaged(error)
  }
}

type Found = { name: string; method: number; packed: number; size: number; local: number; start: number }

function entriesOf(file: Buffer): Found[] {
  const end = file.lastIndexOf(END)
  if (end < 0 || end < file.length - END_BYTES - LONGEST_COMMENT) throw damaged('no end record')
  const count = file.readUInt16LE(end + 10)
  const length = file.readUInt32LE(end + 12)
  const from = file.readUInt32LE(end + 16)
  if (file.readUInt32LE(end + 4) !== 0 || file.readUInt16LE(end + 8) !== count) throw damaged('several disks')
  const to = from + length
  // Some programs write the records for large archives into small ones, too.
  const isLarge = end - to === LARGE_END_BYTES && file.readUInt32LE(to) === LARGE_END
  if ((to !== end && !isLarge) || count > MOST_ENTRIES)
    throw damaged('another length than the end record says')
  const entries: Found[] = []
  let at = from
  while (at < to) {
    if (file.readUInt32LE(at) !== ENTRY) throw damaged('no entry where one is due')
    const nameLength = file.readUInt16LE(at + 28)
    const extraLength = file.readUInt16LE(at + 30)
    const extra = at + ENTRY_BYTES + nameLength
    entries.push(entryAt(file, at, file.subarray(extra, extra + extraLength), from))
    at = extra + extraLength + file.readUInt16LE(at + 32)
  }
  if (at !== to || entries.length !== count)
    throw damaged('another number of entries than the end record says')
  return entries
}

function entryAt(file: Buffer, at: number, extra: Buffer, directory: number): Found {
  if (file.readUInt16LE(at + 8) & ENCRYPTED) throw damaged('an encrypted entry')
  const method = file.readUInt16LE(at + 10)
  if (method !== STORED && method !== DEFLATED) throw damaged('an unknown method')
  const large = largeSizes(extra)
  const next = (field: number): number => {
    const value = file.readUInt32LE(at + field)
    return value === 0xffffffff ? (large.shift() ?? value) : value
  }
  const [size, packed, local] = [next(24), next(20), next(42)]
  const name = file.subarray(at + ENTRY_BYTES, at + ENTRY_BYTES + file.readUInt16LE(at + 28))
  if (file.readUInt32LE(local) !== LOCAL) throw damaged('no local header')
  const nameAt = local + LOCAL_BYTES
  const start = nameAt + file.readUInt16LE(local + 26) + file.readUInt16LE(local + 28)
  if (!file.subarray(nameAt, nameAt + file.readUInt16LE(local + 26)).equals(name)) throw damaged('two names')
  if (start + packed > directory) throw damaged('an entry inside the directory')
  return { name: name.toString('utf8'), method, packed, size, local, start }
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

function refuseOverlaps(entries: Found[]): void {
  let free = 0
  for (const { local, start, packed } of [...entries].sort((a, b) => a.local - b.local)) {
    if (local < free) throw damaged('entries that overlap')
    free = start + packed
  }
}

function unpack(file: Buffer, { method, start, packed, size }: Found): Buffer {
  if (size > RATIO_MATTERS && size > packed * HIGHEST_RATIO)
    throw new ExtractFailure('too_large', 'This file unpacks to far more data than a document contains.')
  const data = file.subarray(start, start + packed)
  try {
    const unpacked = method === STORED ? data : inflateRawSync(data, { maxOutputLength: Math.max(size, 1) })
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
