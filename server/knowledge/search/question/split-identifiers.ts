const SEAM = /(\p{Ll})(\p{Lu})/gu
const ANY_SEAM = new RegExp(SEAM.source, 'u')
/** Matches the arguments in a heading like `.send(data, options)`. */
const ARGUMENTS = /(?<=[\p{L}\p{N}_])\([^)]*\)/gu

/** Returns the text, with the parts of names like `bodyLimit` appended, because a question asks for a body limit. */
export function withNameParts(text: string): string {
  if (!ANY_SEAM.test(text)) return text
  const names = text.split(/[^\p{L}\p{N}]+/u).filter((word) => ANY_SEAM.test(word))
  return `${text} ${names.join(' ').replace(SEAM, '$1 $2')}`
}

/** Returns the subject of a heading: the name of a function without its arguments. */
export function withoutArguments(heading: string): string {
  return heading.replace(ARGUMENTS, '')
}

/** Returns the text with names replaced by their parts. */
export function asNameParts(text: string): string {
  return text.replace(SEAM, '$1 $2')
}
