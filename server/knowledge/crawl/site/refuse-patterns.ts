import { MAX_PATTERNS_SIZE } from '../../../platform/text/safety/linear-pattern.ts'
import { type PathPattern, pathPattern } from './path-pattern.ts'

type Patterns = { excludePaths?: string[]; includeOnlyPaths?: string[] }

const TOO_LARGE =
  'With this pattern those of excludePaths and includeOnlyPaths are too large: the counts of their repeats may be 500 in all.'

/** Returns a sentence for each pattern that cannot be used or that exceeds the limit of all patterns together. */
export function refusePatterns(options: Patterns): Record<string, string> {
  let size = 0
  const problems = (['excludePaths', 'includeOnlyPaths'] as const).flatMap((field) =>
    (options[field] ?? []).flatMap((pattern, index) => {
      const compiled = compileOrSay(pattern)
      if (typeof compiled === 'string') return [[`${field}.${index}`, compiled] as const]
      const before = size
      size += compiled.size
      return before <= MAX_PATTERNS_SIZE && size > MAX_PATTERNS_SIZE
        ? [[`${field}.${index}`, TOO_LARGE] as const]
        : []
    }),
  )
  return Object.fromEntries(problems)
}

function compileOrSay(pattern: string): PathPattern | string {
  try {
    return pathPattern(pattern)
  } catch (error) {
    return (error as Error).message
  }
}
