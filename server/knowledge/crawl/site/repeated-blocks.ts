import type { SiteBlocks } from '../../../platform/db/tables/knowledge.ts'

/** Pages of a site with the hashes of their blocks. */
export type Sample = { url: string; blocks: readonly string[] }[]

/** The fewest pages of which "most pages of the site" can be said. */
const FEWEST = 3
const MAX_BLOCKS = 1_000

/** Returns what most of the pages repeat, each with the number of the page that keeps it. */
export function repeatedIn(sample: Sample): Pick<SiteBlocks, 'pages' | 'keepers'> {
  const least = Math.max(FEWEST, Math.floor(sample.length / 2) + 1)
  const places = new Map<string, number[]>()
  for (const [at, { blocks }] of sample.entries())
    for (const block of new Set(blocks)) places.set(block, [...(places.get(block) ?? []), at])
  const repeated = [...places].filter(([, pages]) => pages.length >= least).slice(0, MAX_BLOCKS)
  return {
    pages: sample.map(({ url }) => url),
    keepers: Object.fromEntries(repeated.map(([block, pages]) => [block, pages[0]!])),
  }
}

/** Returns the blocks that are left out of a page: what its site repeats, except where it is kept. */
export const repeatedOn = (url: string, { pages, keepers }: SiteBlocks): string[] =>
  Object.keys(keepers).filter((block) => pages[keepers[block]!] !== url)
