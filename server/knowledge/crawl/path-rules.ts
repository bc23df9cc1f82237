import { refuseInvalid } from '../../http/validate.ts'
import { linearPattern } from '../../text/linear-pattern.ts'
import type { CrawlOptions } from './crawl-source.ts'

type Patterns = Pick<CrawlOptions, 'excludePaths' | 'includeOnlyPaths'>

export type PathRules = {
  /** Why a page is left out, in a sentence; null when it is wanted. */
  against(url: URL): string | null
}

/**
 * The customer's patterns, found anywhere in a page's path and query; one with "://" in it is compared with the
 * whole URL. Exclusion wins.
 */
export function pathRules({ excludePaths, includeOnlyPaths }: Patterns): PathRules {
  const excluded = excludePaths.map(matcher)
  const included = includeOnlyPaths.map(matcher)
  return {
    against(url) {
      const at = excluded.findIndex((matches) => matches(url))
      if (at !== -1) return `Left out by the pattern ${JSON.stringify(excludePaths[at])} of excludePaths.`
      if (included.length > 0 && !included.some((matches) => matches(url)))
        return 'Left out: no pattern of includeOnlyPaths matches.'
      return null
    },
  }
}

function matcher(pattern: string): (url: URL) => boolean {
  const compiled = linearPattern(pattern)
  return pattern.includes('://')
    ? (url) => compiled.test(url.href)
    : (url) => compiled.test(url.pathname + url.search)
}

/** Throws VALIDATION_INVALID_BODY naming each pattern that cannot be used. */
export function checkPatterns(options: Partial<Patterns>): void {
  const problems = (['excludePaths', 'includeOnlyPaths'] as const).flatMap((field) =>
    (options[field] ?? []).flatMap((pattern, index) => {
      try {
        linearPattern(pattern)
        return []
      } catch (error) {
        return [[`${field}.${index}`, (error as Error).message]]
      }
    }),
  )
  refuseInvalid(Object.fromEntries(problems))
}
