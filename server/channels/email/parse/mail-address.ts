import { storable } from '../../../http/bodies/storable.ts'

/** RFC 5321 as far as mail servers go in practice; no quoted local parts. */
const FORM = /^[^\s@<>",;:\\[\]()]+@[^\s@<>",;:\\[\]()]+$/
const LONGEST = 254

export type MailAddress = { address: string; name: string | null }

/** In lower case; null for what no mail can be sent to. */
export function mailAddress(text: string | undefined): string | null {
  const address = storable(text ?? '')
    .trim()
    .toLowerCase()
  return address.length <= LONGEST && FORM.test(address) ? address : null
}

export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)

/** Whether it is the mailbox itself, or one of its addresses with a plus. */
export function isSameMailbox(address: string, mailbox: string): boolean {
  return address === mailbox || address.replace(/\+[^@+]*@/, '@') === mailbox
}

/** One line, as headers need it. */
export const oneLine = (text: string, longest: number): string =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
    .replace(/[\u0000-\u001f\u007f\u0085\u2028\u2029]+/g, ' ')
    .trim()
    .slice(0, longest)
    .toWellFormed()
