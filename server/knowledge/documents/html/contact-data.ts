const DATES = /\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{4}-\d{2}-\d{2}/g
/** Dates with the name of the month, or without a day. */
const WRITTEN_DATES =
  /\d{1,2}\.?\s(?:de\s)?\p{L}+\s(?:de\s)?(?:19|20)\d{2}|\p{L}+\s\d{1,2},?\s(?:19|20)\d{2}|(?:19|20)\d{2}(?:[-/.]\d{1,2}(?!\d)|\s?[年년]\s?\d{1,2}\s?[月월](?:\s?\d{1,2}\s?[日일])?)/gu
const YEARS = /(?<!\d)(?:19|20)\d{2}(?:\s?[–-]\s?(?:19|20)?\d{2})?(?!\d)/g
const MAIL = /[^\s@]\s?(?:@|[[({]\s?at\s?[\])}])\s?[^\s@]+\.\p{L}{2}/iu
/** Five digits or more: telephone, register and tax numbers, and most postcodes. */
const LONG_NUMBER = /\d(?:[\s()./–-]{0,3}\d){4}/
const POSTCODE =
  /(?<![\d.,])\d{4}\s(?:[A-Z]{2}\b|\p{Lu}\p{L}+)|\b[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2}\b|\b[A-Z]\d[A-Z]\s\d[A-Z]\d\b/u
const HOURS =
  /(?<![\d.,])\d{1,2}(?::\d{2}|\s?(?:h\d{0,2}\b|[ap]\.?m\b|uhr\b)|[時点點시]|\s?(?:[–~〜-]|to|bis|à)\s?\d{1,2}(?!\d)|\/7)/iu
/** The number of articles in a cart, and what an empty one costs. */
const COUNT = /\(\d+\)|(?<![\d.,])0(?:[.,]0+)?(?![\d.,])/g

/** Returns whether a text holds a mail address, a telephone or register number, a postcode or opening hours. */
export function hasContactData(text: string): boolean {
  const plain = text.normalize('NFKC')
  const numbers = plain.replace(DATES, ' ').replace(YEARS, ' ')
  return MAIL.test(plain) || HOURS.test(numbers) || LONG_NUMBER.test(numbers) || POSTCODE.test(numbers)
}

/** Returns whether a text holds a number that is not part of a date, such as that of a house or a price. */
export function hasFigure(text: string): boolean {
  const plain = text.normalize('NFKC').replace(DATES, ' ').replace(WRITTEN_DATES, ' ')
  return /\d/.test(plain.replace(YEARS, ' ').replace(COUNT, ' ')) && /\p{L}/u.test(plain)
}
