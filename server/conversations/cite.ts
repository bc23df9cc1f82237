import type { Static } from 'typebox'
import type { Passage } from '../knowledge/retrieval/passage.ts'
import { guessLanguage } from '../text/language.ts'
import { splitSentences } from '../text/sentences.ts'
import { splitWords } from '../text/words.ts'
import type { CitedSource } from './schema.ts'

/** A cited passage as it is stored; `isFile` says that its source is an uploaded file, which has no address of its own. */
export type StoredSource = Static<typeof CitedSource> & { isFile?: true }

const LONGEST_QUOTE = 320
const LONGEST_ANCHOR_WORDS = 8

/** A passage as the source of what was claimed. */
export function citedSource(passage: Passage, claim: string): StoredSource {
  const { sourceId, sourceName, url, score, page, isFile, anchor } = passage
  const quote = quoteFor(passage, claim)
  return {
    id: sourceId,
    name: sourceName,
    url,
    score,
    page,
    anchor: url === null ? textAnchorOf(isFile, page, quote) : anchorOf(url, anchor, quote),
    quote,
    ...(isFile ? { isFile } : {}),
  }
}

/** The sentences of the passage around the one that has most words in common with the claim. */
function quoteFor({ text }: Passage, claim: string): string {
  const whole = text.trim()
  if (whole.length <= LONGEST_QUOTE) return whole
  const sentences = splitSentences(whole, guessLanguage(whole))
  const claimed = new Set(splitWords(claim))
  const shared = sentences.map((sentence) => {
    const words = new Set(splitWords(sentence))
    return [...words].filter((word) => claimed.has(word)).length / Math.sqrt(words.size + 1)
  })
  let first = shared.indexOf(Math.max(...shared, 0))
  if (first < 0) return cut(whole)
  let last = first
  let length = sentences[first]?.length ?? 0
  for (;;) {
    const after = sentences[last + 1]
    const before = sentences[first - 1]
    if (after !== undefined && length + after.length < LONGEST_QUOTE) {
      length += after.length + 1
      last++
    } else if (before !== undefined && length + before.length < LONGEST_QUOTE) {
      length += before.length + 1
      first--
    } else return cut(sentences.slice(first, last + 1).join(' '))
  }
}

function cut(text: string): string {
  if (text.length <= LONGEST_QUOTE) return text
  const space = text.lastIndexOf(' ', LONGEST_QUOTE)
  return `${text.slice(0, space > LONGEST_QUOTE / 2 ? space : LONGEST_QUOTE).toWellFormed()} …`
}

/** Browsers search the text of a file without pages, too, when they show it themselves. */
const textAnchorOf = (isFile: true | undefined, page: number | null, quote: string): string | null =>
  isFile && page === null ? textFragment(quote) : null

/**
 * Returns the URL fragment of the quoted text: the URL's own fragment if it has one, else the id of the heading together
 * with a text fragment.
 */
function anchorOf(url: string, heading: string | undefined, quote: string): string | null {
  const own = URL.parse(url)?.hash.slice(1)
  if (own) return own
  const fragment = textFragment(quote)
  if (heading === undefined) return fragment
  return `${encodeURIComponent(heading.toWellFormed())}${fragment ?? ''}`
}

function textFragment(quote: string): string | null {
  // Only words without marks of Markdown between them stand on the page as they stand here.
  const runs = quote.split(/[*_`#|[\]()<>\n]+|\s-\s/).map((run) => run.trim().split(/\s+/))
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), [] as string[])
  const words = longest.slice(0, LONGEST_ANCHOR_WORDS).join(' ')
  if (words === '') return null
  return `:~:text=${encodeURIComponent(words.toWellFormed()).replaceAll('-', '%2D')}`
}
