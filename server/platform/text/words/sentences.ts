import type { Language } from '../languages/language.ts'

const ABBREVIATIONS = new Set(
  `abb abs approx art aufl bd bspw bzw ca chap co corp dept dr eq etc evtl fig ff ggf hr inc inkl jr ltd max min mr mrs
  ms nr no od pp prof resp sec sog sr st str tel usw vgl vol vs zzgl`.split(/\s+/),
)
const LAST_WORD = /(\p{L}+)\.\s*$/u
const NUMBERED = /(?:^|\s)\d{1,2}\.\s*$/u

/**
 * Splits a text into trimmed sentences; line breaks end one too. A full stop after a known abbreviation
 * (`z.B.`, `Dr.`, `e.g.`) or a German ordinal does not.
 */
export function splitSentences(text: string, language: Language): string[] {
  const segmenter = segmenterOf(language)
  const sentences: string[] = []
  const add = (text: string): void => {
    const sentence = text.trim()
    if (sentence) sentences.push(sentence)
  }
  for (const line of text.split(/\n+/).flatMap(withoutLongRuns)) {
    if (!MAY_END.test(line.trimEnd().slice(0, -1))) {
      add(line)
      continue
    }
    let start = 0
    for (const { segment, index } of segmenter.segment(line)) {
      const end = index + segment.length
      if (endsInAbbreviation(line.slice(Math.max(start, end - TAIL), end), language)) continue
      add(line.slice(start, end))
      start = end
    }
    add(line.slice(start))
  }
  return sentences
}

const segmenters = new Map<Language, Intl.Segmenter>()

function segmenterOf(language: Language): Intl.Segmenter {
  const known = segmenters.get(language)
  if (known) return known
  const locale = language === 'other' ? undefined : language
  const segmenter = new Intl.Segmenter(locale, { granularity: 'sentence' })
  segmenters.set(language, segmenter)
  return segmenter
}

/** Matches a character that can end a sentence. Segmenting a line costs far more than looking for one. */
const MAY_END = /[\p{Sentence_Terminal}\r\u0085\u2028\u2029]/u

/** The segmenter's time grows with the square of the length of a run without an end of a sentence. */
const MAX_RUN_LENGTH = 400
const LONG_RUN = new RegExp(`[^\\s.!?。！？]{${MAX_RUN_LENGTH}}`, 'g')

const withoutLongRuns = (line: string): string[] =>
  line.length <= MAX_RUN_LENGTH ? [line] : line.replace(LONG_RUN, '$&\n').split('\n')

/** The number of characters at the end of a sentence that decide whether it ends there. */
const TAIL = 40

function endsInAbbreviation(text: string, language: Language): boolean {
  if (language === 'de' && NUMBERED.test(text)) return true
  const last = LAST_WORD.exec(text)?.[1]?.toLowerCase()
  // One letter alone is an initial or part of `z. B.`, hardly ever the end.
  return last !== undefined && (/^[a-z]$/.test(last) || ABBREVIATIONS.has(last))
}
