import { isUtf8 } from 'node:buffer'
import iconv from 'iconv-lite'
import jschardet from 'jschardet'
import { CHARSETS, type Charset } from './charsets.ts'

/** The charset of most files without a label; as a label, it says that nobody has looked. */
const DEFAULT = 'windows-1252'
/** The library's names for charsets to which others give another one. */
const DETECTED: Record<string, Charset> = {
  cp932: 'shift_jis',
  cp949: 'euc-kr',
  cp874: 'windows-874',
  macroman: 'macintosh',
  maccyrillic: 'x-mac-cyrillic',
}
const DETECTABLE = [
  ...Object.keys(DETECTED),
  ...CHARSETS.filter((name) => !name.startsWith('utf') && !Object.values(DETECTED).includes(name)),
]
/** What is examined; the library takes 20 ms for it. */
const SAMPLE = 65_536
/** What speaks for the most common charset before any word was read. */
const ODDS = 1.2

/**
 * Decodes bytes to text without a BOM and with `\n` line ends. It uses, in this order: the BOM; UTF-8 if the bytes are
 * valid and not only ASCII; `declared` (a charset label, ignored if unknown) if the bytes are valid in it; UTF-16 if the
 * zero bytes suggest it; and the charset whose languages the bytes are most like. Labels are often wrong: servers and
 * templates declare a default for what they have not examined.
 */
export function decodeText(bytes: Uint8Array, declared?: string | null): string {
  return decodeAs(bytes, charsetOf(bytes, declared))
}

export const decodeAs = (bytes: Uint8Array, charset: string): string =>
  textIn(bytes, charset).replace(/\r\n?/g, '\n')

/** The Encoding Standard leaves out the charsets of DOS, in which spreadsheets still save. */
const textIn = (bytes: Uint8Array, charset: string): string =>
  known(charset) === null ? iconv.decode(bytes, charset) : new TextDecoder(charset).decode(bytes)

export function charsetOf(bytes: Uint8Array, declared?: string | null): string {
  const mark = markOf(bytes)
  if (mark) return mark
  const label = known(declared)
  if (label?.startsWith('utf-16')) return label
  const first = bytes.findIndex((byte) => byte > 0x7f)
  const isValid = isUtf8(bytes)
  if (isValid && first >= 0) return 'utf-8'
  if (label && label !== 'utf-8' && label !== DEFAULT && isValidIn(bytes, label)) return label
  const wide = unmarkedUtf16(bytes)
  if (wide) return wide
  // Escape sequences switch between the character sets of Japanese mail, which uses ASCII bytes only.
  const shift = bytes.indexOf(SHIFT)
  if (isValid && shift < 0) return 'utf-8'
  if (!isValid && isDamagedUtf8(bytes)) return 'utf-8'
  const { charset, text } = detected(bytes, first >= 0 ? first : shift)
  return label === DEFAULT && !isForeign(text) ? DEFAULT : charset
}

export const isUtf16 = (bytes: Uint8Array): boolean =>
  (markOf(bytes) ?? unmarkedUtf16(bytes))?.startsWith('utf-16') ?? false

type Candidate = { charset: string; text: string }

/** Returns the charset that the bytes from the first telling one on are most like, and what they say in it. */
function detected(bytes: Uint8Array, from: number): Candidate {
  const sample = tellingLines(bytes, from)
  const usual: Candidate = { charset: DEFAULT, text: textIn(sample, DEFAULT) }
  if (hasOnlySigns(usual.text)) return usual
  const [best, ...others] = jschardet
    .detectAll(sample, { detectEncodings: DETECTABLE, minimumThreshold: 0 })
    .map(({ encoding, confidence }) => {
      const charset = charsetNamed(encoding ?? DEFAULT)
      const text = textIn(sample, charset)
      return { charset, text, likeness: confidence * plausibility(text) }
    })
    .sort((left, right) => right.likeness - left.likeness)
  const other = others.find(({ charset }) => charset === DEFAULT)
  if (!best || best.text === usual.text) return usual
  // Each word says how much better the best charset suits it.
  const words = wordsBeyond(usual.text).length
  return other && (best.likeness / other.likeness) ** words < ODDS ? usual : best
}

function charsetNamed(name: string): string {
  const label = name.toLowerCase()
  return DETECTED[label] ?? known(label) ?? label
}

/** Whether a text has mainly letters that its charset would not have if it were the most common one. */
function isForeign(text: string): boolean {
  const letters = text.match(/[^\P{L}\p{ASCII}]/gu) ?? []
  return letters.filter((letter) => !/\p{Script=Latin}/u.test(letter)).length > letters.length / 2
}

/**
 * Whether all that is beyond ASCII are signs where people write them, such as in "£5", "20 °C", and "it’s". Charsets are
 * recognised by the letters of languages.
 */
const hasOnlySigns = (text: string): boolean => !MISPLACED.test(text)

const MISPLACED =
  /[^\P{L}\p{ASCII}]|[\u0080-\u009f]|\p{Ll}[^\p{ASCII}\p{Pi}\p{Pf}\p{Pd}\p{No}…]|[^\p{ASCII}\p{Pi}\p{Pf}\p{Ps}\p{Pd}·]\p{Ll}/u

/** Returns the lines with other bytes than ASCII. Many lines without them would hide what these are like. */
function tellingLines(bytes: Uint8Array, from: number): Uint8Array {
  const lines: Uint8Array[] = []
  let length = 0
  for (let at = bytes.lastIndexOf(LINE_FEED, from) + 1; at < bytes.length && length < SAMPLE; ) {
    const next = bytes.indexOf(LINE_FEED, at)
    const end = Math.min(next < 0 ? bytes.length : next + 1, at + SAMPLE)
    const line = bytes.subarray(at, end)
    if (line.some((byte) => byte > 0x7f || byte === SHIFT)) {
      lines.push(line)
      length += line.length
    }
    at = end
  }
  return Buffer.concat(lines)
}

const LINE_FEED = 0x0a
/** The escape character. */
const SHIFT = 0x1b

/**
 * Returns the share of the words beyond ASCII that could be words: nobody writes one in Latin and other letters, with a
 * sign or a capital letter between small letters, or with a capital letter after a small one.
 */
function plausibility(text: string): number {
  const words = wordsBeyond(text)
  return 1 - words.filter((word) => STRANGE.test(word)).length / (words.length + 1)
}

/** Returns the words with letters or signs beyond ASCII. A word may be as long as a picture that is written into a page. */
const wordsBeyond = (text: string): string[] =>
  (text.match(/[^\s;,.:"'()<>]+/g) ?? []).filter((word) => /[^\0-\x7f]/.test(word))

const OTHER = '[\\p{Script=Cyrillic}\\p{Script=Greek}\\p{Script=Hebrew}\\p{Script=Arabic}\\p{Script=Thai}]'
const STRANGE = new RegExp(
  `\\p{Script=Latin}${OTHER}|${OTHER}\\p{Script=Latin}|\\p{Ll}[^\\p{ASCII}\\p{L}\\p{M}\\p{N}’·‑–—]\\p{Ll}|\\p{Ll}(?!\\p{ASCII})\\p{Lu}\\p{Ll}|(?!\\p{ASCII})\\p{Ll}\\p{Lu}|[\\u0080-\\u009f\\ufffd]`,
  'u',
)

function isValidIn(bytes: Uint8Array, charset: string): boolean {
  try {
    new TextDecoder(charset, { fatal: true }).decode(bytes)
    return true
  } catch {
    // A single stray byte does not refute a label.
    return strays(bytes, charset) < MOSTLY
  }
}

const isDamagedUtf8 = (bytes: Uint8Array): boolean => strays(bytes, 'utf-8') < MOSTLY

const MOSTLY = 0.05

/** Returns the share of the characters beyond ASCII that the charset does not have. */
function strays(bytes: Uint8Array, charset: string): number {
  const text = new TextDecoder(charset).decode(bytes.subarray(0, SAMPLE * 16))
  const beyond = text.match(/[^\0-\x7f]/gu)?.length ?? 0
  return beyond === 0 ? 0 : (text.match(/\ufffd/g)?.length ?? 0) / beyond
}

/** Returns the charset of a Content-Type header, else of an HTML page's meta element, else null. */
export function declaredCharset(contentType: string | undefined, html?: Uint8Array): string | null {
  const inHeader = contentType && /charset\s*=\s*["']?([\w:.-]+)/i.exec(contentType)?.[1]
  if (inHeader) return inHeader
  if (!html) return null
  // The HTML Standard examines the first 1024 bytes; real pages put it later.
  const head = Buffer.from(html.buffer, html.byteOffset, Math.min(html.length, SAMPLE)).toString('latin1')
  const inMeta = /<meta[^<>]+charset\s*=\s*["']?([\w:.-]+)/i.exec(head)?.[1]
  // A page whose meta element could be read as bytes is not in UTF-16.
  return known(inMeta)?.startsWith('utf-16') ? 'utf-8' : (inMeta ?? null)
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
  const zerosAt = (rest: 0 | 1) => sample.filter((byte, index) => byte === 0 && index % 2 === rest).length
  const zeros = [zerosAt(0), zerosAt(1)] as const
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
