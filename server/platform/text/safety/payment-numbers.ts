/** Matches what may be a card number: 12 to 19 digits, which spaces or hyphens may group. */
const CARD = /(?<![\d.,+]|\+\d{1,3}[ -])\d(?:[ -]?\d){11,18}(?![\d])/g
const IBAN = /(?<![\p{L}\d])[A-Z]{2}\d{2}(?:[ -]?[A-Z\d]){11,30}(?![\p{L}\d])/giu
const MIN_IBAN = 15
const MAX_IBAN = 34

/** Returns a text with the numbers of cards and bank accounts replaced by what they are and their last four digits. */
export const withoutPaymentNumbers = (text: string): string =>
  text
    .replace(IBAN, (written) => ibanIn(written) ?? written)
    .replace(CARD, (written) => (isCard(written) ? `[card number …${lastFour(written)}]` : written))

const lastFour = (written: string): string => written.replace(/[^\dA-Z]/gi, '').slice(-4)

/** Luhn's check, which card numbers pass. */
function isCard(written: string): boolean {
  const digits = [...written.replace(/\D/g, '')].map(Number).reverse()
  // A run of one digit passes the check, too.
  if (new Set(digits).size === 1) return false
  const sum = digits.reduce((total, digit, at) => {
    const doubled = at % 2 === 1 ? digit * 2 : digit
    return total + (doubled > 9 ? doubled - 9 : doubled)
  }, 0)
  return sum % 10 === 0
}

/** A word may follow an account number, so that shorter beginnings are looked at, too. */
function ibanIn(written: string): string | null {
  const ends = [written.length, ...[...written.matchAll(/[ -]/g)].map(({ index }) => index).reverse()]
  const end = ends.find((at) => isIban(written.slice(0, at)))
  return end === undefined
    ? null
    : `[account number …${lastFour(written.slice(0, end))}]${written.slice(end)}`
}

/** The check of ISO 13616: the number, with letters as 10 to 35, leaves 1 when it is divided by 97. */
function isIban(written: string): boolean {
  const plain = written.replace(/[ -]/g, '').toUpperCase()
  if (plain.length < MIN_IBAN || plain.length > MAX_IBAN) return false
  const moved = plain.slice(4) + plain.slice(0, 4)
  let rest = 0
  for (const character of moved) rest = Number(`${rest}${Number.parseInt(character, 36)}`) % 97
  return rest === 1
}
