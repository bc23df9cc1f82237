import { shapesOf, type Variant, variantsOf } from './address-shapes.ts'
import { isSame, type Sketch, shareOfNew } from './sketch.ts'

/** A page that has been read. */
export type ReadAddress = {
  number: number
  url: string
  /** The page on which it was found first. */
  foundOn: number | null
  sketch: Sketch
  /** false: another page has the same text. */
  isIncluded: boolean
}

/**
 * Addresses without end. `chain`: addresses of one shape lead to one another, with nothing new on them or behind them. `value`: pages are the
 * same whatever stands for a value in their query.
 */
export type Trap = { kind: 'chain' | 'value'; addresses: string }

/**
 * A shape is judged by its latest pages, once so many were read: few if a query makes it, which may combine without end;
 * many if a path does, because a path names a document, and those of a catalogue may be written alike.
 */
const MIN_READ = { query: 40, path: 250 }
const LATEST = 30
const MIN_STALE = 27
const MIN_SAME = 8
const MAX_DIFFERENT = 0.05

/** Whether addresses are paused already, or are to be read anyway. */
type IsKnown = (addresses: string) => boolean
/** `latest`: the numbers of the latest pages, null for those that say something new. */
type Shape = { read: number; latest: (number | null)[] }

/** Follows the pages of one crawl in the order in which they are read, to recognise addresses without end. */
export function createTrapWatch() {
  const known = new Set<number>()
  const shapes = new Map<string, Shape>()
  const shapesOfPage = new Map<number, string[]>()
  const values = new Map<string, { same: number; different: number }>()
  const firstOf = new Map<string, Sketch>()

  /** Pages that differ from earlier ones only in their numbers have the same text here. */
  const texts = new Set<string>()
  /** Pages on which others were found that are not like any before. */
  const leading = new Set<number>()

  const before = ({ foundOn }: ReadAddress): string[] =>
    (foundOn === null ? undefined : shapesOfPage.get(foundOn)) ?? []

  /** Returns whether a page differs from all before, and notes that the page on which it was found leads to it. */
  const isNewText = (page: ReadAddress, own: string[]): boolean => {
    const text = page.sketch.masked.join()
    const isNew = !texts.has(text)
    texts.add(text)
    // What is listed on a page makes it worth reading, even if it says nothing itself.
    if (isNew && page.foundOn !== null && !own.includes(before(page)[0] ?? '')) leading.add(page.foundOn)
    return isNew
  }

  const chainTrapOf = (page: ReadAddress, own: string[], isOther: boolean): Trap | null => {
    const { sketch, isIncluded, number, url } = page
    const parents = before(page)
    // Filters show what is known in ever new choices.
    const saysNothing = shareOfNew(sketch.masked, known) === 0 && (!isOther || isFilter(url))
    for (const shape of own) {
      const { read, latest } = shapes.get(shape) ?? { read: 0, latest: [] }
      // What leads from one page to the next of its shape may go on for ever.
      latest.push(!isIncluded || (saysNothing && parents.includes(shape)) ? number : null)
      if (latest.length > LATEST) latest.shift()
      shapes.set(shape, { read: read + 1, latest })
    }
    const addresses = own.find((shape) => {
      const { read, latest } = shapes.get(shape) ?? { read: 0, latest: [] }
      return (
        read >= MIN_READ[shape.includes('?') ? 'query' : 'path'] &&
        latest.filter((stale) => stale !== null && !leading.has(stale)).length >= MIN_STALE
      )
    })
    return addresses === undefined ? null : { kind: 'chain', addresses }
  }

  const valueTrapOf = (variants: Variant[], sketch: Sketch): Trap | null => {
    for (const { keys, rest } of variants) {
      const id = `${keys.join(' ')} ${rest}`
      const first = firstOf.get(id)
      if (!first) {
        firstOf.set(id, sketch)
        continue
      }
      for (const addresses of keys) {
        const { same, different } = values.get(addresses) ?? { same: 0, different: 0 }
        const next = isSame(first, sketch)
          ? { same: same + 1, different }
          : { same, different: different + 1 }
        values.set(addresses, next)
        const isOne = next.same >= MIN_SAME && next.different <= next.same * MAX_DIFFERENT
        if (isOne) return { kind: 'value', addresses }
      }
    }
    return null
  }

  return {
    /** Adds a page, and returns the trap that it reveals. */
    note(page: ReadAddress, isKnown: IsKnown): Trap | null {
      const url = new URL(page.url)
      const own = shapesOf(url)
      shapesOfPage.set(page.number, own)
      const { sketch } = page
      const isOther = isNewText(page, own)
      const variants = variantsOf(url)
      const isJudged = [...own, ...variants.flatMap(({ keys }) => keys)].some(isKnown)
      const trap = isJudged ? null : (valueTrapOf(variants, sketch) ?? chainTrapOf(page, own, isOther))
      for (const hash of sketch.masked) known.add(hash)
      return trap
    },
  }
}

const isFilter = (url: string): boolean => new Set(new URL(url).searchParams.keys()).size > 1

export type TrapWatch = ReturnType<typeof createTrapWatch>
