import { fileTypeFromBuffer } from 'file-type'
import { type PictureType, pictureLength } from './picture-length.ts'

/** The side of a stored picture in pixels, twice what any page shows. */
const KEPT_SIDE = 256
/** The largest side of an uploaded picture in pixels. */
const MAX_SIDE_LENGTH = 4_096
const DECODE_SECONDS = 10

const TYPES: Record<string, PictureType> = {
  'image/png': 'png',
  'image/apng': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
}

/** Signs of a page or a PDF inside a picture, and of an archive (its directory). */
const FOREIGN = /<(?:!doctype|html|head|body|script|iframe|svg|\?php)|%PDF-/i
const ARCHIVE = Buffer.from('504b050600000000', 'hex')

type Squared = { png: Uint8Array } | { problem: string }

/**
 * Converts an uploaded PNG, JPEG, WebP or GIF (its first frame) to a PNG of at most 256 by 256 pixels without
 * metadata. Returns a sentence when the file cannot be used. The type is detected from the content.
 */
export async function squarePicture(upload: Uint8Array): Promise<Squared> {
  const bytes = Buffer.from(upload.buffer, upload.byteOffset, upload.byteLength)
  const type = TYPES[(await fileTypeFromBuffer(bytes))?.mime ?? '']
  if (!type) return { problem: 'Must be a PNG, JPEG, WebP or GIF picture.' }
  if (!isOnlyPicture(bytes, type)) {
    return { problem: 'The picture is damaged or contains other data. Save it again as a PNG.' }
  }
  // It is native code that most processes never need, so it is loaded on first use.
  const { default: sharp } = await import('sharp')
  const picture = sharp(bytes, { limitInputPixels: MAX_SIDE_LENGTH ** 2, failOn: 'error' })
  try {
    const { width, height } = await picture.metadata()
    if (width !== height) return { problem: `Must be square; it has ${width} by ${height} pixels.` }
    if (width > MAX_SIDE_LENGTH) return { problem: `Must have at most ${MAX_SIDE_LENGTH} pixels a side.` }
    const png = await picture
      .autoOrient()
      .resize(KEPT_SIDE, KEPT_SIDE, { fit: 'inside', withoutEnlargement: true })
      .png({ compressionLevel: 9 })
      .timeout({ seconds: DECODE_SECONDS })
      .toBuffer()
    return { png }
  } catch {
    return { problem: 'The picture is damaged or too large to be read. Save it again as a PNG.' }
  }
}

function isOnlyPicture(bytes: Buffer, type: PictureType): boolean {
  const length = pictureLength(bytes, type)
  if (length === null || length > bytes.length + 1) return false
  // Some programs append zeros.
  const isWhole = bytes.subarray(length).every((byte) => byte === 0)
  return isWhole && !beginsScript(bytes, type) && !bytes.includes(ARCHIVE) && !FOREIGN.test(latin1(bytes))
}

/**
 * A picture that is also a script has text in place of its first size. Decoders may use another size than the one in
 * a GIF's head, so the size is checked, too.
 */
function beginsScript(bytes: Buffer, type: PictureType): boolean {
  if (type === 'gif') return Math.max(bytes.readUInt16LE(6), bytes.readUInt16LE(8)) > MAX_SIDE_LENGTH
  return type === 'jpg' && latin1(bytes.subarray(4, 6)) === '/*'
}

const latin1 = (bytes: Buffer): string => bytes.toString('latin1')
