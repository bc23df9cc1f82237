const SEAM = /(\p{Ll})(\p{Lu})/gu
const ANY_SEAM = new RegExp(SEAM.source, 'u')

/** The text, followed by the parts of names like `bodyLimit` in it: a question asks for a body limit. */
export function withNameParts(text: string): string {
  if (!ANY_SEAM.test(text)) return text
  const names = text.split(/[^\p{L}\p{N}]+/u).filter((word) => ANY_SEAM.test(word))
  return `${text} ${names.join(' ').replace(SEAM, '$1 $2')}`
}
