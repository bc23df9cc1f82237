import { parsePhoneNumberFromString } from 'libphonenumber-js'

/** E.164 for a possible number with country code; as it was given otherwise. */
export function normalPhone(phone: string): string {
  const number = parsePhoneNumberFromString(phone)
  return number?.isPossible() ? number.number : phone.trim()
}

/** ISO 3166-1 alpha-2 of a number with country code; null where several countries share it, and for what is no number. */
export const countryOfPhone = (phone: string): string | null =>
  parsePhoneNumberFromString(phone)?.country ?? null
