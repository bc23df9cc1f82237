import { guessLanguage } from '../../text/language.ts'
import { splitSentences } from '../../text/sentences.ts'

const LONGEST_QUOTE = 400
const LIST_MARK = /^(?:[-*+•]\s+|\d{1,2}[.)]\s+|>\s+|#{1,6}\s+)+/

/** The sentences of a text that can stand in an answer, in order; headings and rules are left out. */
export function quotableSentences(text: string): string[] {
  return splitSentences(text, guessLanguage(text))
    .filter((sentence) => !/^#{1,6}\s/.test(sentence))
    .map((sentence) => shorten(sentence.replace(LIST_MARK, '')))
    .filter((sentence) => /\p{L}.*\p{L}/u.test(sentence))
}

function shorten(sentence: string): string {
  if (sentence.length <= LONGEST_QUOTE) return sentence
  const space = sentence.lastIndexOf(' ', LONGEST_QUOTE)
  return `${sentence.slice(0, space > LONGEST_QUOTE / 2 ? space : LONGEST_QUOTE).trimEnd()} …`
}
