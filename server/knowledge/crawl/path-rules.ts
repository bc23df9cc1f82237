import { refuseInvalid } from '../../http/validate.ts'
import { LARGEST_PATTERNS } from '../../text/linear-pattern.ts'
import { createBreather } from '../retrieval/breathe.ts'
import type { CrawlOptions } from './crawl-source.ts'
import { type PathPattern, pathPattern } from './path-pattern.ts'

type Patterns = Pick<CrawlOptions, 'excludePaths' | 'includeOnlyPaths'>

export type PathRules = {
  /** Why a page is left out, in a sentence; null when it is wanted. */
  against(url: URL): string | null
  /** Looks at many addresses without holding up other work; `against` then knows what it said. */
  prepare(urls: readonly URL[]): Promise<void>
}

// Of one address: 20 ms at worst.
const MOST_STEPS = 200_000
const MOST_KNOWN = 5_000
const TOO_LARGE =
  'With this pattern those of excludePaths and includeOnlyPaths are too large: the counts of their repeats may be 500 in all.'

/**
 * The customer's patterns, found anywhere in a page's path and query; one with "://" in it is compared with the
 * whole URL. Exclusion wins.
 */
export function pathRules({ excludePaths, includeOnlyPaths }: Patterns): PathRules {
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

/** Throws VALIDATION_INVALID_BODY naming each pattern that cannot be used, or with which they are too large. */
export function checkPatterns(options: Partial<Patterns>): void {
  let size = 0
  const problems = (['excludePaths', 'includeOnlyPaths'] as const).flatMap((field) =>
    (options[field] ?? []).flatMap((pattern, index) => {
      const compiled = compileOrSay(pattern)
      if (typeof compiled === 'string') return [[`${field}.${index}`, compiled]]
      const before = size
      size += compiled.size
      return before <= LARGEST_PATTERNS && size > LARGEST_PATTERNS ? [[`${field}.${index}`, TOO_LARGE]] : []
    }),
  )
  refuseInvalid(Object.fromEntries(problems))
}

function compileOrSay(pattern: string): PathPattern | string {
  try {
    return pathPattern(pattern)
  } catch (error) {
    return (error as Error).message
  }
}
