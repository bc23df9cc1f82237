import { parsePhoneNumberFromString } from 'libphonenumber-js'

/** Returns E.164 for a possible number with a country code, and otherwise the number as it was given. */
export function normalPhone(phone: string): string {
  const number = parsePhoneNumberFromString(phone)
  return number?.isPossible() ? number.number : phone.trim()
}

/** Returns whether a text is nothing but a number with a country code, as normalPhone returns it. */
export const isPhone = (text: string): boolean => /^\+\d+$/.test(text)

/**
 * Returns the country (ISO 3166-1 alpha-2) of a number with a country code, or null when several countries share it
 * or it is not a number.
 */
export const countryOfPhone = (phone: string): string | null =>
  parsePhoneNumberFromString(phone)?.country ?? null
