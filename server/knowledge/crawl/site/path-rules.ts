import { createYielder } from '../../../platform/concurrency/yield-to-event-loop.ts'
import type { CrawlOptions } from '../run/crawl-source.ts'
import { pathPattern } from './path-pattern.ts'

export type PathRules = {
  /** Returns a sentence that says why a page is left out, or null when it is included. */
  against(url: URL): string | null
  /** Checks many URLs without blocking other work. `against` then returns the cached results. */
  prepare(urls: readonly URL[]): Promise<void>
}

// The cost limit for one URL, which is 20 ms at worst.
const MAX_STEPS = 200_000
const MAX_KNOWN = 5_000

/**
 * Applies the customer's patterns, which may match anywhere in a page's path and query. A pattern with "://" is
 * compared with the whole URL. Exclusion takes precedence.
 */
export function pathRules({
  excludePaths,
  includeOnlyPaths,
}: Pick<CrawlOptions, 'excludePaths' | 'includeOnlyPaths'>): PathRules {
  const excluded = excludePaths.map(pathPattern)
  const included = includeOnlyPaths.map(pathPattern)
  const known = new Map<string, string | null>()

  const look = (url: URL): string | null => {
    const steps = [...excluded, ...included].reduce((sum, pattern) => sum + pattern.steps(url), 0)
    if (steps > MAX_STEPS) return 'Left out: its address is too long for the patterns of this website.'
    const at = excluded.findIndex((pattern) => pattern.matches(url))
    if (at !== -1) return `Left out by the pattern ${JSON.stringify(excludePaths[at])} of excludePaths.`
    if (included.length > 0 && !included.some((pattern) => pattern.matches(url)))
      return 'Left out: no pattern of includeOnlyPaths matches.'
    if (included.length === 0 && repeatsItself(url.pathname))
      return 'Left out: its address repeats the same folders, as relative links do that lead ever deeper. If the page is real, name it in includeOnlyPaths.'
    return null
  }

  return {
    against(url) {
      const reason = known.get(url.href)
      return reason === undefined ? look(url) : reason
    },
    async prepare(urls) {
      if (excluded.length + included.length === 0) return
      const breathe = createYielder()
      for (const url of urls) {
        if (known.has(url.href)) continue
        await breathe()
        if (known.size >= MAX_KNOWN) known.clear()
        known.set(url.href, look(url))
      }
    },
  }
}

/** Returns whether the same folders follow one another three times. Numbers may, as in dates. */
function repeatsItself(path: string): boolean {
  const folders = path.split('/').slice(1)
  for (let length = 1; length * REPEATS <= folders.length; length++) {
    let equal = 0
    for (let at = length; at < folders.length; at++) {
      equal = folders[at] === folders[at - length] ? equal + 1 : 0
      const isThere = equal >= length * (REPEATS - 1)
      if (isThere && folders.slice(at - length + 1, at + 1).some((folder) => /\p{L}/u.test(folder)))
        return true
    }
  }
  return false
}

const REPEATS = 3
