import { isUtf8 } from 'node:buffer'

const singleByte = /^(us-ascii|windows-125\d|iso-8859-\d+|macintosh)$/

/**
 * Decodes bytes to text without a BOM and with `\n` line ends. It uses, in this order: the BOM; `declared` (a charset
 * label, ignored if unknown); UTF-8 if the bytes are valid; UTF-16 if the zero bytes suggest it; and windows-1252.
 * Valid multi-byte UTF-8 takes precedence over a declared single-byte charset, because servers declare a default for
 * files that they have not examined.
 */
export function decodeText(bytes: Uint8Array, declared?: string | null): string {
  return new TextDecoder(charsetOf(bytes, declared)).decode(bytes).replace(/\r\n?/g, '\n')
}

export function charsetOf(bytes: Uint8Array, declared?: string | null): string {
  const mark = markOf(bytes)
  if (mark) return mark
  const label = known(declared)
  const isValid = isUtf8(bytes)
  if (label && !(singleByte.test(label) && isValid)) return label
  const wide = unmarkedUtf16(bytes)
  if (wide) return wide
  return isValid ? 'utf-8' : (label ?? 'windows-1252')
}

/** Returns the charset of a Content-Type header, else of an HTML page's meta element, else null. */
export function declaredCharset(contentType: string | undefined, html?: Uint8Array): string | null {
  const inHeader = contentType && /charset\s*=\s*["']?([\w:.-]+)/i.exec(contentType)?.[1]
  if (inHeader) return inHeader
  if (!html) return null
  // The HTML Standard examines the first 1024 bytes; real pages put it later.
  const head = Buffer.from(html.buffer, html.byteOffset, Math.min(html.length, 4096)).toString('latin1')
  const inMeta = /<meta[^>]+charset\s*=\s*["']?([\w:.-]+)/i.exec(head)?.[1]
  // A page whose meta element could be read as bytes is not in UTF-16.
  return inMeta && /^utf-?16/i.test(inMeta) ? 'utf-8' : (inMeta ?? null)
}

function markOf(bytes: Uint8Array): string | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8'
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  return null
}

function unmarkedUtf16(bytes: Uint8Array): string | null {
  const sample = bytes.subarray(0, 4096)
  if (bytes.length % 2 !== 0 || sample.length < 4) return null
  const zeros: [number, number] = [0, 0]
  for (const [index, byte] of sample.entries()) {
    if (byte === 0) zeros[(index % 2) as 0 | 1] += 1
  }
  const half = sample.length / 2
  if (zeros[1] > half * 0.6 && zeros[0] < half * 0.05) return 'utf-16le'
  if (zeros[0] > half * 0.6 && zeros[1] < half * 0.05) return 'utf-16be'
  return null
}

function known(label: string | null | undefined): string | null {
  if (!label) return null
  try {
    return new TextDecoder(label).encoding
  } catch {
    return null
  }
}
