import { isUtf8 } from 'node:buffer'
import iconv from 'iconv-lite'
import { decodeAs, decodeText } from '../../../knowledge/documents/text/decode-text.ts'

/** Maps every byte to a character and back, so a text that was decoded with it still holds its bytes. */
const LOSSLESS = 'windows-1252'
const BYTES = new Map(
  Array.from({ length: 256 }, (_, byte) => [new TextDecoder(LOSSLESS).decode(Uint8Array.of(byte)), byte]),
)
/** The most characters by which a charset is judged. */
const MAX_JUDGED = 100_000
/** Japanese mail switches between character sets with it. */
const ESCAPE = '\x1b'
const TEXT_PART = /^(content-type:[ \t]*text\/(plain|html)\b)((?:[^\r\n]|\r?\n[ \t])*)/gim
const CHARSET = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i

/** Returns the mail with a head in UTF-8. Some programs write headers in a charset that they do not name. */
export function withReadableHead(raw: Uint8Array): Uint8Array {
  const mail = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const ends = [mail.indexOf('\r\n\r\n'), mail.indexOf('\n\n')].filter((at) => at >= 0)
  const end = ends.length > 0 ? Math.min(...ends) : mail.length
  const head = mail.subarray(0, end)
  return isUtf8(head) ? raw : Buffer.concat([Buffer.from(decodeText(head)), mail.subarray(end)])
}

/** The label of all parts of a type, as it was written; null if there is none, undefined if they differ. */
type Label = string | null | undefined

/**
 * Returns the mail with a charset that loses no byte in place of those that its texts declare, and what they declare;
 * null if that is right for sure. `read` is the text as the declared charsets make it.
 */
export function withLosslessCharsets(
  raw: Uint8Array,
  read: string,
): { raw: Uint8Array; labels: { plain: Label; html: Label } } | null {
  if (!read.includes(ESCAPE) && /^\p{ASCII}*$/u.test(read)) return null
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('latin1')
  const found: Record<string, Set<string | null>> = { plain: new Set(), html: new Set() }
  const lossless = text.replace(TEXT_PART, (whole: string, start: string, type: string, rest: string) => {
    const [, quoted, bare] = CHARSET.exec(rest) ?? []
    const label = quoted ?? bare ?? null
    found[type.toLowerCase()]?.add(label)
    if (label !== null && /^utf-?(?:16|32)/i.test(label)) return whole
    return `${start}; charset=${LOSSLESS}${rest.replace(CHARSET, '')}`
  })
  const labels = [...(found.plain ?? []), ...(found.html ?? [])]
  if (!read.includes('\ufffd') && labels.length > 0 && labels.every((label) => /^utf-?8$/i.test(label ?? '')))
    return null
  const labelOf = (set = new Set<string | null>()): Label =>
    set.size > 1 ? undefined : ([...set][0] ?? null)
  const hasType = /^content-type:/im.test(text.split(/\r?\n\r?\n/, 1)[0] ?? '')
  const head = hasType ? '' : `Content-Type: text/plain; charset=${LOSSLESS}\r\n`
  return {
    raw: Buffer.from(head + lossless, 'latin1'),
    labels: { plain: labelOf(found.plain), html: labelOf(found.html) },
  }
}

/**
 * Returns the text as it was meant: in UTF-8 if the bytes are that, else as declared if that can be, and otherwise in
 * the charset that the bytes look like. `declared` is the text in the declared charset, and `lossless` the same with a
 * character for each byte.
 */
export function repaired(declared: string, lossless: string, label: Label): string {
  const bytes = bytesOf(lossless)
  if (bytes === null) return declared
  const isBroken = declared.includes('\ufffd')
  if (declared.includes(ESCAPE)) return decodeText(bytes)
  // The parser reads charsets that it does not know byte by byte.
  if (declared === lossless && label && isDecodable(label)) return decodeAs(bytes, label)
  if (/^\p{ASCII}*$/u.test(lossless)) return declared
  if (isUtf8(bytes)) {
    const text = new TextDecoder().decode(bytes)
    // Two bytes in UTF-8 may as well be one character of a charset of East Asia, but hardly three.
    if (isBroken || declared.length === lossless.length || /[\u0800-\uffff]/.test(text)) return text
    return declared
  }
  if (isBroken) return isMostlyRight(declared) ? declared : decodeText(bytes)
  return declared === lossless ? decodeText(bytes, label && isKnown(label) ? LOSSLESS : null) : declared
}

/** Decodes a header as UTF-8 if its bytes are valid UTF-8, although it declares another charset. */
export function meantText(text: string): string {
  const bytes = /^\p{ASCII}*$/u.test(text) ? null : bytesOf(text)
  return bytes !== null && isUtf8(bytes) ? new TextDecoder().decode(bytes) : text
}

/** Some characters of a text in the right charset may be damaged; in another, most are. */
function isMostlyRight(text: string): boolean {
  const beyond = text.slice(0, MAX_JUDGED).match(/\P{ASCII}/gu) ?? []
  return beyond.filter((letter) => letter !== '\ufffd').length > beyond.length / 2
}

function bytesOf(text: string): Uint8Array | null {
  const bytes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at++) {
    const byte = BYTES.get(text[at] ?? '')
    if (byte === undefined) return null
    bytes[at] = byte
  }
  return bytes
}

/** Whether a charset is known here and not to the parser, such as those of DOS. */
const isDecodable = (label: string): boolean => !isKnown(label) && iconv.encodingExists(label)

function isKnown(label: string): boolean {
  try {
    return new TextDecoder(label.trim()).encoding !== ''
  } catch {
    return false
  }
}
