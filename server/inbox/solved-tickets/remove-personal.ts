/** The data of the ticket's customer, including what was given only in the conversation. */
export type Person = { names: string[]; others: string[] }

// Tried where something begins only: what is before its sign is no address when it is much longer.
export const EMAIL =
  /(?<![^\s@<>()[\]"',;:])[^\s@<>()[\]"',;:]{1,320}@[^\s@<>()[\]"',;:]{1,255}\.\p{L}{2,24}/gu
const date = /^(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{2,4})$/
// Digits with the usual separators. Their number decides what they are.
const DIGIT_GROUPS = /(?<![\p{L}\d])[+(]?\d[\d ()./\u00a0-]{5,24}\d(?![\p{L}\d])/gu

/** The maximum length of an address, a number or a name that a cut could split. */
const MAX_VALUE_LENGTH = 400

/**
 * Returns about the first `most` characters of a text. It is cut after a word and not within an address or number,
 * so that `removePersonal` recognises everything in it.
 */
export function beginningOf(text: string, most: number): string {
  if (text.length <= most) return text
  const end = text.slice(most - MAX_VALUE_LENGTH, most)
  const behindWord = /^.*\p{L}(?=\s)/su.exec(end)?.[0].length ?? 0
  return text.slice(0, most - MAX_VALUE_LENGTH + behindWord)
}

/**
 * Replaces e-mail addresses, phone and card numbers and the customer's name by marks in brackets, so that sentences
 * stay readable.
 */
export function removePersonal(text: string, { names, others }: Person): string {
  let clean = text
  for (const value of others) clean = replaceWord(clean, value, '[contact]', 'giu')
  clean = replaceNumbers(clean.replace(EMAIL, '[email]'), () => '[number]')
  for (const name of names) {
    clean = replaceWord(clean, name, '[name]', 'giu')
    // A single part may be a word of its own ("Will", "Mark"): only as it is written in the name.
    for (const part of name.split(/\s+/)) clean = replaceWord(clean, part, '[name]', 'gu')
  }
  return clean.replace(/\[name\](?:\s+\[name\])+/g, '[name]')
}

/** Replaces what looks like the number of a phone, card or account. */
export const replaceNumbers = (text: string, markOf: (found: string) => string): string =>
  text.replace(DIGIT_GROUPS, (found) => (isNumber(found.trim()) ? markOf(found) : found))

function isNumber(text: string): boolean {
  if (date.test(text)) return false
  const digits = text.replace(/\D/g, '').length
  const looksDialled = /^(?:\+|\(|0)/.test(text) || /^\d{3}[-. ]\d{3,4}(?:[-. ]\d{4})?$/.test(text)
  return digits >= (looksDialled ? 7 : 9)
}

/** The scripts whose words are written without spaces, or with endings at names. */
const JOINED = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}]/u

/** Only whole words are replaced, where words are separate, and no value of a single character. */
export function replaceWord(text: string, value: string, mark: string, flags: string): string {
  const word = value.trim()
  if (word.length < 2) return text
  const [before, after] = [word[0] ?? '', word.at(-1) ?? ''].map((edge) => !JOINED.test(edge))
  const pattern = word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  return text.replace(
    new RegExp(`${before ? '(?<![\\p{L}\\d])' : ''}${pattern}${after ? '(?![\\p{L}\\d])' : ''}`, flags),
    // A function, because a text may hold what a replacement gives a meaning.
    () => mark,
  )
}
