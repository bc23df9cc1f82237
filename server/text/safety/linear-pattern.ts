import { RE2JS } from 're2js'

export type LinearPattern = {
  test(text: string): boolean
  /** Instructions of the compiled expression: a repeat counts as often as it says, .{1,100} is 205. */
  readonly size: number
}

/** What the expressions of one user may have together, in instructions. */
export const LARGEST_PATTERNS = 1_000

const LONGEST = 1_000
// What starting an expression costs, in characters.
const START = 16

/** A regular expression of a user that takes linear time; throws a sentence when it has none. */
export function linearPattern(pattern: string): LinearPattern {
  if (pattern.length > LONGEST) throw new Error(`A pattern has more than ${LONGEST} characters.`)
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern))
    return { test: (text) => compiled.test(text), size: compiled.programSize() }
  } catch {
    throw new Error(
      `The pattern ${JSON.stringify(pattern)} cannot be used: only expressions that run in linear time are taken (RE2 syntax, without lookaround and backreferences).`,
    )
  }
}

/** What a test costs at worst, in instructions times characters: a million take 0.1 s. */
export const stepsOf = ({ size }: LinearPattern, text: string): number => (text.length + START) * size
