import { isAttribution, isFullAttribution, namesTime } from './attribution.ts'

/** Attribution lines of clients in English and German, and the words of some clients in other languages. */
const WROTE = '(?:wrote|schrieb|schreibt|writes|a écrit|escribió|ha scritto|schreef)'
const ATTRIBUTIONS = [
  // On Mon, Jan 5, 2026 at 9:14 AM Support <a@b.c> wrote: — Am 05.01.26 um 09:14 schrieb Support:
  new RegExp(`^(?:On|Am|Le|El|Il|Op|Den)\\s.{4,300}\\s${WROTE}\\b.{0,200}:$`, 'i'),
  // Support <a@b.c> schrieb am Mo., 5. Jan. 2026, 09:14: — Support wrote on 5 January:
  new RegExp(`^.{1,200}\\s${WROTE}\\s(?:am|on|at|le|el)\\s.{4,200}:$`, 'i'),
  // 2026-01-05 9:14 GMT+01:00 Support <a@b.c>:
  /^\d{4}-\d{2}-\d{2}\s\d{1,2}:\d{2}.{0,200}<[^<>\s]+@[^<>\s]+>:$/,
  // "Support" <a@b.c> wrote:
  new RegExp(`^[^.?!]{0,100}<[^<>\\s]+@[^<>\\s]+>\\s${WROTE}:$`, 'i'),
]
/** The most lines that an attribution takes. */
const MAX_LINES = 4

const ORIGINAL =
  /^\s*[-_*]{2,}\s*(?:original message|original appointment|ursprüngliche nachricht|originalnachricht|original-nachricht|message d'origine|mensaje original)\s*[-_*]{2,}\s*$/i
const HEADER_FIELDS = [
  /^\s*>?\*?(?:from|von|de):\*?\s*\S/i,
  /^\s*>?\*?(?:sent|date|gesendet|datum|envoyé|enviado)(?: (?:on|am))?:\*?\s*\S/i,
  /^\s*>?\*?(?:to|an|à|para):\*?\s*\S/i,
  /^\s*>?\*?(?:subject|betreff|objet|asunto):\*?/i,
]
const SENT_FROM =
  /^(?:sent from my .{1,60}|sent (?:from|with) .{1,60}(?:mail|app|ios|android)|von meinem .{1,60} gesendet|gesendet (?:von|mit) .{1,80}|get outlook for .{1,40}|outlook für .{1,40} (?:herunterladen|beziehen)|diese nachricht wurde von meinem .{1,60} gesendet\.?)$/i
const MAX_SIGNATURE_LENGTH = 20

/**
 * Returns what the person has written, without quoted mails and the signature, or the whole text if nothing would be
 * left. A forwarded mail is the message itself, so it is kept.
 */
export function stripQuoted(text: string, context: Context = {}): string {
  const left = ownWords(text, context)
  return left === '' ? tidy(linesOf(text)) : left
}

/**
 * `isReply`: its headers say that it answers another mail. Only then is a quotation recognised by its form in any
 * language. `recipients` and `subject` are those of the mail.
 */
type Context = { isForward?: boolean; isReply?: boolean; recipients?: string[]; subject?: string }

/** Does the same, but returns nothing if nothing is left. */
export function ownWords(text: string, context: Context = {}): string {
  const lines = linesOf(text)
  return tidy(withoutSignature(context.isForward ? lines : withoutQuotes(lines, context)))
}

const linesOf = (text: string): string[] => text.replace(/\r\n?/g, '\n').split('\n')

/** Returns whether the subject is that of a forwarded mail. */
export const isForwarded = (subject: string): boolean => /^\s*(?:fwd?|wg|tr)\s*:/i.test(subject)

function withoutQuotes(lines: string[], context: Context): string[] {
  const { isReply = false } = context
  const kept: string[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (
      ORIGINAL.test(line) ||
      isHeaderBlock(lines, at) ||
      (isReply && isAnyHeaderBlock(lines, at, context))
    ) {
      // An answer below such a quotation cannot be told from it, so everything is kept.
      while (SEPARATOR.test(kept.at(-1) ?? 'x')) kept.pop()
      return kept
    }
    const folded = attributionAt(lines, at, isReply)
    if (folded > 0) {
      const next = lines.slice(at + folded).find((candidate) => candidate.trim() !== '')
      // Clients that do not mark quotations put them below the answer.
      if (next === undefined || !isQuote(next)) return kept
      at += folded - 1
    } else if (!isQuote(line)) kept.push(line)
  }
  return kept
}

const isQuote = (line: string): boolean => /^ ?>/.test(line)

/** Returns the number of lines of the attribution that begins here, or 0. */
function attributionAt(lines: string[], at: number, isReply: boolean): number {
  let joined = ''
  for (let count = 1; count <= MAX_LINES && at + count <= lines.length; count++) {
    const line = (lines[at + count - 1] ?? '').trim()
    if (line === '') return 0
    joined = `${joined} ${line.replace(/^>\s?/, '')}`.trim()
    if (joined.length > 500) return 0
    if (joined.endsWith(':') && ATTRIBUTIONS.some((pattern) => pattern.test(joined))) return count
    if (!isReply || !isAttribution(joined)) continue
    const next = lines.slice(at + count).find((candidate) => candidate.trim() !== '')
    if (isFullAttribution(joined) || (next !== undefined && isQuote(next))) return count
  }
  return 0
}

/** Matches the headers that Outlook puts above a quotation. */
function isHeaderBlock(lines: string[], at: number): boolean {
  if (!HEADER_FIELDS[0]?.test(lines[at] ?? '')) return false
  const block = lines.slice(at, at + 8).filter((line) => line.trim() !== '')
  return HEADER_FIELDS.every((field) => block.some((line) => field.test(line)))
}

const SEPARATOR = /^\s*(?:[-_*=]{2,}.{0,60}[-_*=]{2,}|[_-]*)\s*$/
const LABELLED = /^\s*\*?([\p{L}\p{M}][\p{L}\p{M} .'-]{0,30}?)\s?\*?[:\uff1a]\*?\s*(\S.*)$/u

/**
 * Matches such headers in any language by their form: lines with labels that name a time, and a recipient of the mail
 * or its subject. A customer who lists an order's details names neither.
 */
function isAnyHeaderBlock(lines: string[], at: number, { recipients = [], subject = '' }: Context): boolean {
  if (!LABELLED.test(lines[at] ?? '')) return false
  const values: string[] = []
  for (const line of lines.slice(at, at + 10)) {
    if (line.trim() === '') continue
    const value = LABELLED.exec(line)?.[2]
    if (value === undefined) break
    values.push(value)
  }
  const isAbout = (value: string): boolean =>
    recipients.some((address) => value.toLowerCase().includes(address)) ||
    (bareSubject(subject) !== '' && bareSubject(value) === bareSubject(subject))
  return values.length >= 3 && values.some(namesTime) && values.some(isAbout)
}

/** Returns the subject without the marks of replies. */
const bareSubject = (subject: string): string =>
  subject
    .replace(/^(?:\s*[\p{L}]{1,5}(?:\[\d+\])?\s?[:\uff1a])+/u, '')
    .trim()
    .toLowerCase()

function withoutSignature(lines: string[]): string[] {
  const start = lines.findLastIndex((line) => /^-- ?$/.test(line))
  const isShort =
    start >= 0 && lines.slice(start).filter((line) => line.trim()).length <= MAX_SIGNATURE_LENGTH
  const rest = isShort ? lines.slice(0, start) : [...lines]
  while (rest.length > 0 && (rest.at(-1)?.trim() === '' || SENT_FROM.test(rest.at(-1)?.trim() ?? '')))
    rest.pop()
  return rest
}

const tidy = (lines: string[]): string =>
  lines
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
