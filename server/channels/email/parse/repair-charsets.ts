import { isUtf8 } from 'node:buffer'
import { decodeText } from '../../../knowledge/documents/text/decode-text.ts'

/** Maps every byte to a character and back, so a text that was decoded with it still holds its bytes. */
const LOSSLESS = 'windows-1252'
const BYTES = new Map(
  Array.from({ length: 256 }, (_, byte) => [new TextDecoder(LOSSLESS).decode(Uint8Array.of(byte)), byte]),
)
const TEXT_PART = /^(content-type:[ \t]*text\/(?:plain|html)\b)((?:[^\r\n]|\r?\n[ \t])*)/gim
const CHARSET = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i

/** Returns the mail with a head in UTF-8. Some programs write headers in a charset that they do not name. */
export function withReadableHead(raw: Uint8Array): Uint8Array {
  const mail = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const ends = [mail.indexOf('\r\n\r\n'), mail.indexOf('\n\n')].filter((at) => at >= 0)
  const end = ends.length > 0 ? Math.min(...ends) : mail.length
  const head = mail.subarray(0, end)
  return isUtf8(head) ? raw : Buffer.concat([Buffer.from(decodeText(head)), mail.subarray(end)])
}

/**
 * Returns the mail with a lossless charset in place of those that are missing, unknown or wrong; null if there is none
 * of them. `read` is the text as the declared charsets make it.
 */
export function withLosslessCharsets(raw: Uint8Array, read: string): Uint8Array | null {
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('latin1')
  const isBroken = read.includes('\ufffd')
  let changed = false
  const lossless = text.replace(TEXT_PART, (whole: string, type: string, rest: string) => {
    const [, quoted, bare] = CHARSET.exec(rest) ?? []
    const label = quoted ?? bare
    if (label !== undefined && isKnown(label) && !(isBroken && /^(utf-?8|us-ascii)$/i.test(label)))
      return whole
    changed = true
    return `${type}; charset=${LOSSLESS}${rest.replace(CHARSET, '')}`
  })
  if (changed) return Buffer.from(lossless, 'latin1')
  const hasType = /^content-type:/im.test(text.split(/\r?\n\r?\n/, 1)[0] ?? '')
  return isBroken && !hasType
    ? Buffer.from(`Content-Type: text/plain; charset=${LOSSLESS}\r\n${text}`, 'latin1')
    : null
}

/**
 * Returns a text whose bytes were read one by one as it was meant: in UTF-8 if they are that, and otherwise, if the
 * charset `isGuessed`, in the one that it looks like. Other texts are returned unchanged.
 */
export function repaired(text: string, { isGuessed }: { isGuessed: boolean }): string {
  const bytes = new Uint8Array(text.length)
  let isAscii = true
  for (let at = 0; at < text.length; at++) {
    const byte = BYTES.get(text[at] ?? '')
    if (byte === undefined) return text
    if (byte > 127) isAscii = false
    bytes[at] = byte
  }
  if (isAscii) return text
  if (isUtf8(bytes)) return new TextDecoder().decode(bytes)
  return isGuessed ? decodeText(bytes) : text
}

function isKnown(label: string): boolean {
  try {
    return new TextDecoder(label.trim()).encoding !== ''
  } catch {
    return false
  }
}
