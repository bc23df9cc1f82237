import { EMAIL, replaceNumbers, replaceWord } from '../../../inbox/solved-tickets/remove-personal.ts'
import { foldAccents, foldText } from '../../../platform/text/words/words.ts'

/** A value that belongs to a person, and the word that stands for it. */
export type KnownValue = { kind: string; value: string }

export type PersonalReplacer = {
  /** For what the person wrote: also replaces addresses and numbers that nobody has stored. */
  inOwnText(text: string): string
  /** For what others wrote, who may name the addresses and numbers of the company. */
  inText(text: string): string
  /** Does the same with every text of a JSON value. */
  inJson(value: unknown): unknown
  /** Returns the marks that were used, in the order in which they were needed first. */
  marks(): string[]
}

/** A shorter name is part of too many addresses of others. */
const MIN_NAME_IN_ADDRESS = 4
/** The last digits of a number, which tell it from others however its beginning is written. */
const LAST_DIGITS = 8
/** While texts are replaced, a private character stands for each mark, so that no value is found within a mark. */
const FIRST_TOKEN = 0xf_0000
/** Far more than is known of a person; each costs a look at every text. */
const MAX_VALUES = 1_000
const TOKENS = /[\u{F0000}-\u{FFFFD}]/gu

/**
 * Replaces what is known of a person by marks in brackets, the same value by the same mark in all texts. `names` are
 * their names. Parts of names are replaced as well, and so are the words before the @ of an address that has several.
 */
export function personalReplacer(known: readonly KnownValue[], names: readonly string[]): PersonalReplacer {
  const marks: string[] = []
  const tokens = new Map<string, string>()
  const ofKind = new Map<string, number>()
  /** The tokens of what the person's own texts hold, by address or digits. */
  const found = new Map<string, string>()
  // A longer value may hold a shorter one.
  const values = known
    .slice(0, MAX_VALUES)
    .toSorted((a, b) => b.value.length - a.value.length)
    .map((one) => ({ ...one, upper: upperCase(one.value.trim()) }))
  const fullNames = names.slice(0, MAX_VALUES).map((name) => ({ name, upper: upperCase(name.trim()) }))
  const parts = fullNames.flatMap(({ name }) => partsOf(name).map((part) => [part, name] as const))
  const nameOf = new Map(parts.slice(0, MAX_VALUES))
  const addressParts = values.flatMap(({ value }) => partsOfAddress(value)).slice(0, MAX_VALUES)
  const nameInAddress = [...nameOf.keys(), ...addressParts].map(folded)
  const firstName = names[0] ?? addressParts.join(' ')

  function tokenOf(kind: string, value: string): string {
    const key = `${kind} ${kind === 'number' ? digitsOf(value).slice(-LAST_DIGITS) : folded(value.trim())}`
    let token = tokens.get(key)
    if (token === undefined) {
      const count = (ofKind.get(kind) ?? 0) + 1
      ofKind.set(kind, count)
      token = String.fromCodePoint(FIRST_TOKEN + marks.length)
      marks.push(count === 1 ? `[${kind}]` : `[${kind} ${count}]`)
      tokens.set(key, token)
    }
    return token
  }

  function isTheirs(address: string): boolean {
    const local = folded(address.slice(0, address.indexOf('@')))
    const parts = new Set(local.split(/[^\p{L}]+/u))
    return nameInAddress.some(
      (name) => parts.has(name) || (name.length >= MIN_NAME_IN_ADDRESS && local.includes(name)),
    )
  }

  function replaceKnown(text: string): string {
    let clean = text.replace(TOKENS, '')
    // Looking for a value is much faster than a pattern, and few texts hold many.
    const upper = upperCase(clean)
    for (const { kind, value, upper: wanted } of values)
      if (upper.includes(wanted)) clean = replaceEach(clean, value, 'giu', () => tokenOf(kind, value))
    clean = replaceFound(clean)
    for (const { name, upper: wanted } of fullNames)
      if (upper.includes(wanted)) clean = replaceEach(clean, name, 'giu', () => tokenOf('name', name))
    // A single part may be a word of its own ("Will", "Mark"): only as it is written in the name.
    for (const [part, name] of nameOf)
      if (clean.includes(part)) clean = replaceEach(clean, part, 'gu', () => tokenOf('name', name))
    for (const part of addressParts)
      if (upper.includes(upperCase(part)))
        clean = replaceEach(clean, part, 'giu', () => tokenOf('name', firstName))
    return clean
  }

  /** Replaces the addresses of the person, and the addresses and numbers that the person's own texts hold. */
  function replaceFound(text: string): string {
    const clean = text.replace(EMAIL, (address) =>
      isTheirs(address)
        ? tokenOf('email', address)
        : (found.get(folded(address)) ??
          address.replace(NARROW_EMAIL, (inner) => foundIn(inner, /\.[^.]*$/))),
    )
    return clean.replace(NUMBERS, (numbers) => {
      // Digits and what is between them, in turn.
      const pieces = numbers.split(/(\D+)/)
      let replaced = ''
      for (let at = 0; at < pieces.length; at++) {
        const tokenUntil = (end: number) => found.get(digitsOf(pieces.slice(at, end).join('')))
        let end = at % 2 === 0 ? Math.min(pieces.length, at + MAX_PIECES) : at
        while (end > at && tokenUntil(end) === undefined) end -= 2
        replaced += end > at ? tokenUntil(end) : pieces[at]
        if (end > at) at = end - 1
      }
      return replaced
    })
  }

  /** Returns the text with its longest beginning that was found as a token; `last` is what may follow it. */
  function foundIn(text: string, last: RegExp): string {
    for (let start = text; start !== ''; start = last.test(start) ? start.replace(last, '') : '') {
      const token = found.get(folded(start))
      if (token) return token + text.slice(start.length)
    }
    return text
  }

  function noteAndReplace(kind: string, value: string): string {
    const token = tokenOf(kind, value)
    found.set(kind === 'number' ? digitsOf(value) : folded(value), token)
    return token
  }

  const withMarks = (text: string): string =>
    text
      .replace(TOKENS, (token) => marks[(token.codePointAt(0) ?? 0) - FIRST_TOKEN] ?? '')
      .replace(/(\[name(?: \d+)?\])(?:\s+\1)+/g, '$1')

  const inText = (text: string): string => withMarks(replaceKnown(text))

  function inJson(value: unknown): unknown {
    if (typeof value === 'string') return inText(value)
    if (typeof value === 'number') {
      const clean = inText(String(value))
      return clean === String(value) ? value : clean
    }
    if (Array.isArray(value)) return value.map(inJson)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [inText(key), inJson(member)]))
  }

  return {
    inOwnText(text) {
      const clean = replaceKnown(text).replace(EMAIL, (address) => noteAndReplace('email', address))
      return withMarks(replaceNumbers(clean, (number) => noteAndReplace('number', number.trim())))
    },
    inText,
    inJson,
    marks: () => [...marks],
  }
}

/** An address within what may be one of many signs, such as a link. */
const NARROW_EMAIL = /[\p{L}\d._%+-]{1,320}@[\p{L}\d.-]{1,255}/gu
/** Numbers beside each other, and the most pieces of a single one with what is between them. */
const NUMBERS = /(?<![\p{L}\d])\d[\d ()./\u00a0-]*\d(?![\p{L}\d])/gu
const MAX_PIECES = 25

const digitsOf = (text: string): string => text.replace(/\D/g, '')

/** The same for all that a pattern takes for the same whatever its case. */
const upperCase = (text: string): string => text.toLowerCase().toUpperCase()

/** Without accents, which addresses mostly leave out. */
const folded = (text: string): string => foldAccents(foldText(text))

const partsOf = (name: string): string[] => name.split(/\s+/).filter((part) => part.length > 1)

/** Returns the words before the @ if there are several, as in a name; a single one may be any word ("info", "orders"). */
function partsOfAddress(address: string): string[] {
  if (!/^[^\s@]+@[^\s@]+$/.test(address)) return []
  const parts = address
    .slice(0, address.indexOf('@'))
    .split(/[^\p{L}]+/u)
    .filter((part) => part.length > 1)
  return parts.length > 1 ? parts : []
}

const PROBE = '\u{FFFFE}'

/** Replaces whole words, and calls `tokenOf` only if there is one. */
function replaceEach(text: string, value: string, flags: string, tokenOf: () => string): string {
  const probed = replaceWord(text, value, PROBE, flags)
  return probed.includes(PROBE) ? probed.replaceAll(PROBE, tokenOf) : text
}
