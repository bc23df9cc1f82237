import { RE2JS } from 're2js'

export type LinearPattern = {
  test(text: string): boolean
  /**
   * Counts the instructions of the compiled expression. A repetition counts as often as it can occur: .{1,100} is
   * 205.
   */
  readonly size: number
}

/** The most instructions that all expressions of one user may have together. */
export const MAX_PATTERNS_SIZE = 1_000

const MAX_LENGTH = 1_000
// The cost of starting an expression, in characters.
const START = 16

/**
 * Compiles a user's regular expression to one that runs in linear time. Throws an error whose message tells the user why
 * that is impossible.
 */
export function linearPattern(pattern: string): LinearPattern {
  if (pattern.length > MAX_LENGTH) throw new Error(`A pattern has more than ${MAX_LENGTH} characters.`)
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern))
    return { test: (text) => compiled.test(text), size: compiled.programSize() }
  } catch {
    throw new Error(
      `The pattern ${JSON.stringify(pattern)} cannot be used: only expressions that run in linear time are taken (RE2 syntax, without lookaround and backreferences).`,
    )
  }
}

/** The highest cost of a test, in instructions times characters; a million take 0.1 s. */
export const stepsOf = ({ size }: LinearPattern, text: string): number => (text.length + START) * size
