import { linearPattern, stepsOf } from '../../../platform/text/safety/linear-pattern.ts'

export type PathPattern = {
  matches(url: URL): boolean
  /** The worst-case cost of the pattern, and the part that does not depend on the URL; see linearPattern. */
  steps(url: URL): number
  readonly size: number
}

// Matches plain text, which may be anchored to the start or the end of the URL.
const plainForm = /^(\^?)((?:[^\\^$.|?*+()[\]{}]|\\[./_-])+)(\$?)$/u

/**
 * Compiles a customer's pattern for URLs. Most patterns are plain text, which costs nothing. Throws an error with a
 * sentence for the customer.
 */
export function pathPattern(pattern: string): PathPattern {
  const textOf = pattern.includes('://') ? (url: URL) => url.href : (url: URL) => url.pathname + url.search
  const [, start, text, end] = plainForm.exec(pattern) ?? []
  if (text !== undefined) {
    const find = finder(text.replace(/\\(.)/g, '$1'), start !== '', end !== '')
    return { matches: (url) => find(textOf(url)), steps: () => 0, size: 0 }
  }
  const compiled = linearPattern(pattern)
  return {
    matches: (url) => compiled.test(textOf(url)),
    steps: (url) => stepsOf(compiled, textOf(url)),
    size: compiled.size,
  }
}

function finder(wanted: string, fromStart: boolean, toEnd: boolean): (text: string) => boolean {
  if (fromStart && toEnd) return (text) => text === wanted
  if (fromStart) return (text) => text.startsWith(wanted)
  if (toEnd) return (text) => text.endsWith(wanted)
  return (text) => text.includes(wanted)
}
