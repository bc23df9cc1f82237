import { linearPattern, stepsOf } from '../../../text/safety/linear-pattern.ts'

export type PathPattern = {
  matches(url: URL): boolean
  /** What that costs at worst, and what of it does not depend on the address: see linearPattern. */
  steps(url: URL): number
  readonly size: number
}

// Plain text, from the start or up to the end of the address when it says so.
const plainForm = /^(\^?)((?:[^\\^$.|?*+()[\]{}]|\\[./_-])+)(\$?)$/u

/** A customer's pattern for addresses of pages; plain text, as most are, costs nothing. Throws a sentence. */
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
