const SEAM = /(\p{Ll})(\p{Lu})/gu
const ANY_SEAM = new RegExp(SEAM.source, 'u')
/** The arguments in a heading like `.send(data, options)`. */
const ARGUMENTS = /(?<=[\p{L}\p{N}_])\([^)]*\)/gu

/** The text, followed by the parts of names like `bodyLimit` in it: a question asks for a body limit. */
export function withNameParts(text: string): string {
  if (!ANY_SEAM.test(text)) return text
  const names = text.split(/[^\p{L}\p{N}]+/u).filter((word) => ANY_SEAM.test(word))
  return `${text} ${names.join(' ').replace(SEAM, '$1 $2')}`
}

/** What a heading is about: the name of a function without its arguments. */
export function withoutArguments(heading: string): string {
  return heading.replace(ARGUMENTS, '')
}

/** The text with the parts of names in the place of the names. */
export function asNameParts(text: string): string {
  return text.replace(SEAM, '$1 $2')
}
