import { parsePhoneNumberFromString } from 'libphonenumber-js'

/** E.164 for a possible number with country code; as it was given otherwise. */
export function normalPhone(phone: string): string {
  const number = parsePhoneNumberFromString(phone)
  return number?.isPossible() ? number.number : phone.trim()
}
