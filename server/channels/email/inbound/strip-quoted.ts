import { isAttribution, namesAddress, namesTime } from './attribution.ts'
import { isKnownQuoteHead, isKnownSignature } from './known-clients.ts'

/** The most lines and characters that an attribution takes. */
const MAX_LINES = 4
const MAX_LENGTH = 500
/** The most lines of the headers that a client puts above a quotation. */
const MAX_HEADERS = 10
const MAX_SIGNATURE_LENGTH = 20

/**
 * `isReply`: its headers say that it answers another mail. Only then is a quotation recognised by its form: in another mail, what looks like
 * one is what the person wants to say, such as the fields of a form. `recipients` are its own, of whom one has
 * written what it quotes or got it.
 */
export type Context = { isForward?: boolean; isReply?: boolean; recipients?: string[]; subject?: string }

/**
 * Returns what the person has written, without quoted mails and the signature, or the whole text if nothing would be
 * left. What may not be a quotation stays. A forwarded mail is the message itself, so it is kept.
 */
export function stripQuoted(text: string, context: Context = {}): string {
  const left = ownWords(text, context)
  return left === '' ? tidy(linesOf(text)) : left
}

/** Does the same, but returns nothing if nothing is left. */
export function ownWords(text: string, context: Context = {}): string {
  const lines = linesOf(text)
  return tidy(withoutSignature(context.isForward ? lines : withoutQuotes(lines, context)))
}

const linesOf = (text: string): string[] => text.replace(/\r\n?/g, '\n').split('\n')

function withoutQuotes(lines: string[], context: Context): string[] {
  const { isReply = false } = context
  const kept: string[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (isReply && isQuotedHead(lines, at, context)) {
      // An answer below such a quotation cannot be told from it, so everything is left out.
      while (isSeparator(kept.at(-1) ?? 'x')) kept.pop()
      return kept
    }
    const folded = attributionAt(lines, at, context)
    if (folded > 0) {
      at += folded
      // Clients that do not mark quotations put them below the answer.
      if (!isQuote(nextLine(lines, at))) return kept
      while (at < lines.length && (isQuote(lines[at] ?? '') || lines[at]?.trim() === '')) at++
      at--
    } else if (!isReply || !isQuote(line)) kept.push(line)
  }
  return kept
}

const isQuote = (line: string): boolean => /^ ?>/.test(line)

const nextLine = (lines: string[], at: number): string => {
  for (let next = at; next < lines.length; next++) if (lines[next]?.trim() !== '') return lines[next] ?? ''
  return ''
}

/** Returns the number of lines of the attribution that begins here, or 0. */
function attributionAt(lines: string[], at: number, context: Context): number {
  const certainty = (from: number, end: number): number =>
    certaintyOf(lines.slice(from, end).join(' '), isQuote(nextLine(lines, end)), context)
  for (let end = at + 1; end <= at + MAX_LINES && end <= lines.length; end++) {
    if (lines[end - 1]?.trim() === '') return 0
    const found = certainty(at, end)
    if (found === 0) continue
    const shorter = Math.max(0, ...range(at + 1, end).map((from) => certainty(from, end)))
    // Otherwise the first line is the end of what the person has written.
    const first = lines[at] ?? ''
    const isFolded = shorter === 0 || namesAddress(first) || !/[.!?]\s*$/.test(first)
    if (found > shorter && isFolded) return end - at
  }
  return 0
}

const range = (from: number, end: number): number[] =>
  Array.from({ length: Math.max(0, end - from) }, (_, index) => from + index)

/**
 * Returns how sure it is that a text is the line above a quotation: 2 if it says when a recipient of the mail wrote it, or a client is known to write it; 1 if a time or an address is above a marked quotation; otherwise 0.
 */
function certaintyOf(
  text: string,
  isMarked: boolean,
  { isReply = false, recipients = [] }: Context,
): 0 | 1 | 2 {
  const line = text.replace(/(^|\s)>\s?/g, '$1').trim()
  if (line.length > MAX_LENGTH || !(namesTime(line) || namesAddress(line))) return 0
  const hasEnd = isAttribution(line)
  const isOfPerson = hasEnd && (namesTime(line) || /<[^<>]+>/.test(line)) && namesOneOf(line, recipients)
  if (
    (isReply || isMarked) &&
    (isOfPerson || ((hasEnd || isMarked || isTitle(line)) && isKnownQuoteHead(line)))
  )
    return 2
  return hasEnd && isMarked ? 1 : 0
}

const namesOneOf = (text: string, addresses: string[]): boolean =>
  addresses.some((address) => text.toLowerCase().includes(address))

/** Returns whether a line is empty, a rule, or a title between two. */
function isSeparator(line: string): boolean {
  const text = line.trim()
  return /^[_-]*$/.test(text) || (text.length <= MAX_LENGTH && /^[-_*=]{2}.*[-_*=]{2}$/.test(text))
}

/** Matches a title such as "-----Original Message-----". */
const isTitle = (line: string): boolean => isSeparator(line) && /\p{L}/u.test(line)
const LABELLED = /^\s*\*{0,2}([\p{L}\p{M}][\p{L}\p{M} .'-]{0,30}?)\s?\*{0,2}[:\uff1a]\*{0,2}\s*(\S.*)$/u

/**
 * Matches the headers that clients put above a quotation, in any language by their form: lines with labels of which one
 * names a time, and another a recipient of the mail or its subject. A customer who lists the details of an order names
 * neither. A title is one if a client is known to write it, or two such lines follow.
 */
function isQuotedHead(lines: string[], at: number, { recipients = [], subject = '' }: Context): boolean {
  const line = lines[at] ?? ''
  const bare = bareSubject(subject)
  const isAbout = (value: string): boolean =>
    namesOneOf(value, recipients) || (bare !== '' && bareSubject(value) === bare)
  if (isTitle(line)) {
    const values = labelsAt(lines, at + 1)
    return (values.length >= 2 && values.some(isAbout)) || isKnownQuoteHead(line.trim())
  }
  if (!LABELLED.test(line)) return false
  const values = labelsAt(lines, at)
  if (!values.some(namesTime)) return false
  return (values.length >= 3 && values.some(isAbout)) || (values.length >= 4 && isKnownQuoteHead(line.trim()))
}

/** Returns the values of a header block that begins at this line. A long value continues in a line without a label. */
function labelsAt(lines: string[], at: number): string[] {
  const values: string[] = []
  for (const line of lines.slice(at, at + MAX_HEADERS)) {
    const value = LABELLED.exec(line)?.[2]
    if (value !== undefined) values.push(value)
    else if (line.trim() !== '' && !line.includes('@')) break
  }
  return values
}

/** Returns the subject without the marks of replies, in any language. */
const bareSubject = (subject: string): string =>
  subject
    .replace(/^(?:\s*\p{L}{1,5}(?:\[\d+\])?\s?[:\uff1a])+/u, '')
    .trim()
    .toLowerCase()

function withoutSignature(lines: string[]): string[] {
  const start = lines.findLastIndex((line) => /^-- ?$/.test(line))
  const isShort =
    start >= 0 && lines.slice(start).filter((line) => line.trim()).length <= MAX_SIGNATURE_LENGTH
  const rest = isShort ? lines.slice(0, start) : [...lines]
  while (rest.length > 0 && (rest.at(-1)?.trim() === '' || isKnownSignature(rest.at(-1)?.trim() ?? '')))
    rest.pop()
  return rest
}

const tidy = (lines: string[]): string =>
  lines
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
