import type { Language } from './language.ts'

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
  const segmenter = new Intl.Segmenter(language === 'other' ? undefined : language, {
    granularity: 'sentence',
  })
  const sentences: string[] = []
  for (const line of text.split(/\n+/).flatMap(withoutLongRuns)) {
    let open = ''
    for (const { segment } of segmenter.segment(line)) {
      open += segment
      if (endsInAbbreviation(open, language)) continue
      if (open.trim()) sentences.push(open.trim())
      open = ''
    }
    if (open.trim()) sentences.push(open.trim())
  }
  return sentences
}

/** The segmenter's time grows with the square of what holds no end of a sentence. */
const LONGEST_RUN = 400
const LONG_RUN = new RegExp(`[^\\s.!?。！？]{${LONGEST_RUN}}`, 'g')

const withoutLongRuns = (line: string): string[] =>
  line.length <= LONGEST_RUN ? [line] : line.replace(LONG_RUN, '$&\n').split('\n')

/** What decides stands at the end. */
const TAIL = 40

function endsInAbbreviation(whole: string, language: Language): boolean {
  const text = whole.slice(-TAIL)
  if (language === 'de' && NUMBERED.test(text)) return true
  const last = LAST_WORD.exec(text)?.[1]?.toLowerCase()
  // One letter alone is an initial or part of `z. B.`, hardly ever the end.
  return last !== undefined && (/^[a-z]$/.test(last) || ABBREVIATIONS.has(last))
}
