const ADDRESS = /<?[^\s<>@]+@[^\s<>@]+\.[^\s<>@]+>?/
/** A time of day, or a year with a number beside it, in any digits. */
const TIME = /\p{Nd}{1,2}[:.]\p{Nd}{2}|\p{Nd}{4}.{0,3}\p{Nd}{1,2}|\p{Nd}{1,2}.{1,20}\p{Nd}{4}/u
const MAX_LENGTH = 500

export const namesTime = (text: string): boolean => TIME.test(text)
export const namesAddress = (text: string): boolean => ADDRESS.test(text)

/** Returns whether a text may be the line above a quotation that says who wrote it or when, in any language. */
export function isAttribution(text: string): boolean {
  const line = text.trim()
  return line.length <= MAX_LENGTH && /[:\uff1a]$/.test(line) && (namesAddress(line) || namesTime(line))
}
