import { visibleText } from '../../server/platform/text/words/words.ts'

/** Normalizes a text for the search for facts, which ignores case, line breaks and Markdown syntax. */
const plain = (text: string): string =>
  visibleText(text)
    .replace(/[*_`\\]|\n\s*>/g, '')
    .replace(/\s+/g, ' ')

export const factOf = (fact: string): ((text: string) => boolean) => {
  const pattern = new RegExp(fact, 'i')
  // Names in code may hold the characters of Markdown.
  return (text) => pattern.test(plain(text)) || pattern.test(text)
}
