import type { Gap } from '../../platform/db/tables/knowledge.ts'

export const GAP_KINDS = [
  'pages',
  'letters',
  'charts',
  'objects',
  'formulas',
  'cells',
  'words',
  'layout',
] as const satisfies readonly Gap['kind'][]
type Warned = Omit<Gap, 'kind'> & { kind: (typeof GAP_KINDS)[number] }

export const isWarned = (gap: Gap): gap is Warned => gap.kind !== 'parts'

/** Returns a sentence for the owner of the document. */
export function sentenceOf({ kind, place, count }: Warned): string {
  const at = place === null ? '' : ` (${place})`
  const all = (one: string, several: string): string => (count === 1 ? `One ${one}` : `${count} ${several}`)
  switch (kind) {
    case 'pages':
      return `${all('page has', 'pages have')} no text but pictures${at}. Ask your operator to switch on text recognition (OCR) with \`ocr get\`. Where it is on, upload a file that a website links to, of which only a few such pages are read, or run OCR over the file yourself and upload the result.`
    case 'letters':
      return `${all('letter is', 'letters are')} unreadable, because the file does not say which they are${at}. Export the file again, or run text recognition (OCR) over it.`
    case 'charts':
      return `${all('chart or diagram', 'charts or diagrams')} could not be read${at}. Add what can be seen there as a text.`
    case 'objects':
      return `${all('embedded file was', 'embedded files were')} not read${at}. Upload what it holds as a file of its own.`
    case 'formulas':
      return `${all('formula has', 'formulas have')} no value${at}. Open the workbook in a spreadsheet program, save it and upload it again.`
    case 'words':
      return `${all('word is', 'words are')} left out: headers, footers and numbers of pages, or what is repeated or hidden${at}. Add what is needed of them as a text.`
    case 'layout':
      return `${all('word stands', 'words stand')} at an angle, above or below a line, as in drawings and formulas${at}, and may be divided or joined wrongly. Look at the text of the source.`
    case 'cells':
      return `${all('row or column was', 'rows or columns were')} left out, because the sheet is too large${at}. Split it into smaller ones.`
  }
}

/** Collects what is missing at each place, such as a slide. */
export function gapCounter() {
  const counts = new Map<string, { kind: Gap['kind']; place: string; count: number }>()
  return {
    add(kind: Gap['kind'], place: string, count = 1): void {
      if (count === 0) return
      const key = `${kind} ${place}`
      const { count: before } = counts.get(key) ?? { count: 0 }
      counts.set(key, { kind, place, count: before + count })
    },
    /** Returns one gap of each kind, with all its places: `unit` is their name, such as "page". */
    gaps(unit: string): Gap[] {
      return [...Map.groupBy(counts.values(), ({ kind }) => kind)].map(([kind, all]) => ({
        kind,
        place: placesOf(
          unit,
          all.map(({ place }) => place),
        ),
        count: all.reduce((sum, { count }) => sum + count, 0),
      }))
    },
  }
}

export type GapCounter = ReturnType<typeof gapCounter>

const MAX_PLACES = 10

/** Returns "page 3" or "pages 3–5, 9", or the names of places that have no numbers. */
function placesOf(unit: string, places: readonly string[]): string | null {
  const runs: string[][] = []
  for (const place of places) {
    const last = runs.at(-1)
    if (last && Number(last.at(-1)) + 1 === Number(place)) last.push(place)
    else runs.push([place])
  }
  const shown = runs.slice(0, MAX_PLACES).map((run) => (run.length > 1 ? `${run[0]}–${run.at(-1)}` : run[0]))
  const named = shown.filter(Boolean).join(', ') + (runs.length > MAX_PLACES ? ' …' : '')
  if (named === '' || unit === '') return named || null
  return `${unit}${places.length > 1 ? 's' : ''} ${named}`
}
