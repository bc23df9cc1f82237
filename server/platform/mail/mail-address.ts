import { storable } from '../http/bodies/storable.ts'

/** RFC 5321, as far as mail servers support it; quoted local parts are not accepted. */
const FORM = /^[^\s@<>",;:\\[\]()]+@[^\s@<>",;:\\[\]()]+$/
const MAX_LENGTH = 254

export type MailAddress = { address: string; name: string | null }

/** Returns the address in lower case, or null when no mail can be sent to it. */
export function mailAddress(text: string | undefined): string | null {
  const address = storable(text ?? '')
    .trim()
    .toLowerCase()
  return address.length <= MAX_LENGTH && FORM.test(address) ? address : null
}

export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)

/** Returns whether the address is that of the mailbox, with or without a plus tag. */
export function isSameMailbox(address: string, mailbox: string): boolean {
  return address === mailbox || address.replace(/\+[^@+]*@/, '@') === mailbox
}

/** Returns the text as one line, for a header. */
export const oneLine = (text: string, longest: number): string =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
    .replace(/[\u0000-\u001f\u007f\u0085\u2028\u2029]+/g, ' ')
    .trim()
    .slice(0, longest)
    .toWellFormed()
