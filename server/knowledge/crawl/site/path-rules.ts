import { createBreather } from '../../../fairness/breathe.ts'
import type { CrawlOptions } from '../run/crawl-source.ts'
import { pathPattern } from './path-pattern.ts'

export type PathRules = {
  /** Why a page is left out, in a sentence; null when it is wanted. */
  against(url: URL): string | null
  /** Looks at many addresses without holding up other work; `against` then knows what it said. */
  prepare(urls: readonly URL[]): Promise<void>
}

// Of one address: 20 ms at worst.
const MOST_STEPS = 200_000
const MOST_KNOWN = 5_000

/**
 * The customer's patterns, found anywhere in a page's path and query; one with "://" in it is compared with the
 * whole URL. Exclusion wins.
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
    if (steps > MOST_STEPS) return 'Left out: its address is too long for the patterns of this website.'
    const at = excluded.findIndex((pattern) => pattern.matches(url))
    if (at !== -1) return `Left out by the pattern ${JSON.stringify(excludePaths[at])} of excludePaths.`
    if (included.length > 0 && !included.some((pattern) => pattern.matches(url)))
      return 'Left out: no pattern of includeOnlyPaths matches.'
    return null
  }

  return {
    against(url) {
      const reason = known.get(url.href)
      return reason === undefined ? look(url) : reason
    },
    async prepare(urls) {
      if (excluded.length + included.length === 0) return
      const breathe = createBreather()
      for (const url of urls) {
        if (known.has(url.href)) continue
        await breathe()
        if (known.size >= MOST_KNOWN) known.clear()
        known.set(url.href, look(url))
      }
    },
  }
}
