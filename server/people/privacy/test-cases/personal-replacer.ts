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
const TOKENS = /[\u{F0000}-\u{FFFFD}]/gu

/**
 * Replaces what is known of a person by marks in brackets, the same value by the same mark in all texts. `names` are
 * their names. Parts of names are replaced as well, and so are the words before the @ of an address that has several.
 */
export function personalReplacer(known: readonly KnownValue[], names: readonly string[]): PersonalReplacer {
  const marks: string[] = []
  const tokens = new Map<string, string>()
  const ofKind = new Map<string, number>()
  const values = [...known]
  const nameOf = new Map(names.flatMap((name) => partsOf(name).map((part) => [part, name] as const)))
  const addressParts = known.flatMap(({ value }) => partsOfAddress(value))
  const nameInAddress = [...nameOf.keys(), ...addressParts].map(folded)
  const firstName = names[0] ?? addressParts.join(' ')

  function tokenOf(kind: string, value: string): string {
    const key = `${kind} ${kind === 'number' ? value.replace(/\D/g, '').slice(-LAST_DIGITS) : folded(value.trim())}`
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
    // A longer value may hold a shorter one.
    for (const { kind, value } of values.toSorted((a, b) => b.value.length - a.value.length))
      clean = replaceEach(clean, value, 'giu', () => tokenOf(kind, value))
    clean = clean.replace(EMAIL, (address) => (isTheirs(address) ? tokenOf('email', address) : address))
    for (const name of names) clean = replaceEach(clean, name, 'giu', () => tokenOf('name', name))
    // A single part may be a word of its own ("Will", "Mark"): only as it is written in the name.
    for (const [part, name] of nameOf) clean = replaceEach(clean, part, 'gu', () => tokenOf('name', name))
    for (const part of addressParts) clean = replaceEach(clean, part, 'giu', () => tokenOf('name', firstName))
    return clean
  }

  function noteAndReplace(kind: string, value: string): string {
    values.push({ kind, value })
    return tokenOf(kind, value)
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
