import type { Language } from '../../text/languages/language.ts'
import { mostChunks, type Tables } from './tables/tables.ts'

/** What the documents of an agent are, as far as their customers are told. */
export type DocumentsSummary = {
  /** The language of most of them; null when it is not known. */
  language: Language | null
  areEmpty: boolean
  /** A few of their headings, as they are written, one of each source at first. */
  subjects: string[]
}

export const NO_DOCUMENTS: DocumentsSummary = { language: null, areEmpty: true, subjects: [] }

const MOST_SUBJECTS = 4
const MOST_SOURCES = 50
const MOST_CHUNKS = 100
const LONGEST_SUBJECT = 40
const MOST_WORDS = 5
/** The headings of a document that are about the whole of it are the first ones; below the second, they are details. */
const LEVELS = 2

export function summariseDocuments(
  tables: Tables,
  slotsOf: ReadonlyMap<string, readonly number[]>,
): DocumentsSummary {
  const bySource = [...slotsOf.values()]
    .filter((slots) => slots.length > 0)
    .slice(0, MOST_SOURCES)
    .map((slots) => headingsOf(tables, slots.slice(0, MOST_CHUNKS)))
  const subjects = new Map<string, string>()
  for (let place = 0; place < MOST_SUBJECTS; place++)
    for (const headings of bySource) {
      const heading = headings[place]
      if (heading !== undefined && subjects.size < MOST_SUBJECTS)
        subjects.set(heading.toLowerCase(), subjects.get(heading.toLowerCase()) ?? heading)
    }
  return {
    language: mostChunks(tables.chunksOf),
    areEmpty: [...slotsOf.values()].every((slots) => slots.length === 0),
    subjects: [...subjects.values()],
  }
}

/** Returns the headings of a source that name a subject: those below its title if it has only one title. */
function headingsOf(tables: Tables, slots: readonly number[]): string[] {
  const paths = slots.flatMap((slot) => {
    const chunk = tables.slots.chunks[slot]
    return chunk && !chunk.questions?.length ? [chunk.headingPath.map(tidy)] : []
  })
  for (let level = LEVELS - 1; level >= 0; level--) {
    const headings = [...new Set(paths.map((path) => path[level] ?? ''))].filter(isSubject)
    if (headings.length > (level > 0 ? 1 : 0)) return headings
  }
  return []
}

const tidy = (heading: string): string =>
  heading
    .replace(/[*_`#]/g, '')
    .replace(/\s+/g, ' ')
    .trim()

const isSubject = (heading: string): boolean =>
  heading.length <= LONGEST_SUBJECT &&
  heading.split(' ').length <= MOST_WORDS &&
  /\p{L}{2}/u.test(heading) &&
  !/[?？؟|@/:]|^\P{L}/u.test(heading)
