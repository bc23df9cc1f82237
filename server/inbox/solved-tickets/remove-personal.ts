/** The data of the ticket's customer, including what was given only in the conversation. */
export type Person = { names: string[]; others: string[] }

// Tried where something begins only: what is before its sign is no address when it is much longer.
const email = /(?<![^\s@<>()[\]"',;:])[^\s@<>()[\]"',;:]{1,320}@[^\s@<>()[\]"',;:]{1,255}\.\p{L}{2,24}/gu
const date = /^(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{2,4})$/
// Digits with the usual separators. Their number decides what they are.
const digitGroups = /(?<![\p{L}\d])[+(]?\d[\d ()./\u00a0-]{5,24}\d(?![\p{L}\d])/gu

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
  clean = clean.replace(email, '[email]').replace(digitGroups, (found) => numberMark(found))
  for (const name of names) {
    clean = replaceWord(clean, name, '[name]', 'giu')
    // A single part may be a word of its own ("Will", "Mark"): only as it is written in the name.
    for (const part of name.split(/\s+/)) clean = replaceWord(clean, part, '[name]', 'gu')
  }
  return clean.replace(/\[name\](?:\s+\[name\])+/g, '[name]')
}

function numberMark(found: string): string {
  const text = found.trim()
  const digits = text.replace(/\D/g, '').length
  if (date.test(text)) return found
  const looksDialled = /^(?:\+|\(|0)/.test(text) || /^\d{3}[-. ]\d{3,4}(?:[-. ]\d{4})?$/.test(text)
  if (looksDialled && digits >= 7) return '[number]'
  return digits >= 9 ? '[number]' : found
}

/** Only whole words are replaced, and no value of a single character. */
function replaceWord(text: string, value: string, mark: string, flags: string): string {
  const word = value.trim()
  if (word.length < 2) return text
  return text.replace(
    new RegExp(`(?<![\\p{L}\\d])${word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}(?![\\p{L}\\d])`, flags),
    mark,
  )
}
