const JOINED = /[\p{L}\p{N}]*\p{Ll}\p{Lu}[\p{L}\p{N}]*/gu
const SEAM = /(\p{Ll})(\p{Lu})/gu

/** The text, followed by the parts of names like `bodyLimit` in it: a question asks for a body limit. */
export function withNameParts(text: string): string {
  const names = text.match(JOINED)
  return names ? `${text} ${names.join(' ').replace(SEAM, '$1 $2')}` : text
}
