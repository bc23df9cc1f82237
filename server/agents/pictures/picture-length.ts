/** The types that a picture may be uploaded as. */
export type PictureType = 'png' | 'jpg' | 'gif' | 'webp'

/**
 * Returns the length of the picture according to its structure, or null when the structure is broken. Bytes after it
 * are not part of the picture, but could make the file valid in another format.
 */
export function pictureLength(bytes: Buffer, type: PictureType): number | null {
  try {
    return LENGTHS[type](bytes)
  } catch (error) {
    // A read past the end means that the file is cut short.
    if (error instanceof RangeError) return null
    throw error
  }
}

const LENGTHS: Record<PictureType, (bytes: Buffer) => number | null> = {
  png: pngLength,
  jpg: jpegLength,
  gif: gifLength,
  webp: (bytes) => {
    const length = 8 + bytes.readUInt32LE(4)
    return length + (length % 2)
  },
}

function pngLength(bytes: Buffer): number {
  for (let at = 8; ; ) {
    const type = bytes.toString('latin1', at + 4, at + 8)
    // The data is surrounded by length, type and checksum.
    at += 12 + bytes.readUInt32BE(at)
    if (type === 'IEND') return at
  }
}

function jpegLength(bytes: Buffer): number | null {
  for (let at = 2; ; ) {
    if (bytes.readUInt8(at) !== 0xff) return null
    const marker = bytes.readUInt8(at + 1)
    if (marker === 0xff) at += 1
    else if (marker === 0xd9) return at + 2
    else {
      at += 2 + bytes.readUInt16BE(at + 2)
      if (marker === 0xda) at = endOfScan(bytes, at)
    }
  }
}

/** Returns the index of the next marker. Within a scan, 0xff is followed by 0 or by a restart marker. */
function endOfScan(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at !== -1; at = bytes.indexOf(0xff, at + 2)) {
    const next = bytes.readUInt8(at + 1)
    if (next !== 0 && (next < 0xd0 || next > 0xd7)) return at
  }
  throw new RangeError('The scan has no end.')
}

function gifLength(bytes: Buffer): number | null {
  for (let at = 13 + colorTableLength(bytes.readUInt8(10)); ; ) {
    const kind = bytes.readUInt8(at)
    if (kind === 0x3b) return at + 1
    if (kind === 0x21) at = endOfBlocks(bytes, at + 2)
    // An image has its position, optional colours of its own, a code size and its blocks.
    else if (kind === 0x2c) at = endOfBlocks(bytes, at + 11 + colorTableLength(bytes.readUInt8(at + 9)))
    else return null
  }
}

const colorTableLength = (flags: number): number => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)

function endOfBlocks(bytes: Buffer, from: number): number {
  let at = from
  for (let size = bytes.readUInt8(at); size > 0; size = bytes.readUInt8(at)) at += 1 + size
  return at + 1
}
