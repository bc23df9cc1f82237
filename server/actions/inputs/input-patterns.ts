import {
  type LinearPattern,
  linearPattern,
  MAX_PATTERNS_SIZE,
  stepsOf,
} from '../../platform/text/safety/linear-pattern.ts'
import { ToolProblem } from '../tools/tool-problem.ts'

export type InputPatterns = {
  /** Creates the regular expressions for Ajv. Throws a sentence for one that cannot be used. */
  engine: { (pattern: string): { test(text: string): boolean; toString(): string }; code: string }
  /** Runs one check. Throws ToolProblem when its patterns and texts together take too much time. */
  within<T>(check: () => T): T
}

const MAX_LENGTH = 200
const MAX_PATTERNS = 20
// The limit for one check, which takes 0.1 s at worst.
const MAX_STEPS = 1_000_000

const TOO_LARGE =
  'Its patterns are too large: the counts of their repeats may be 500 in all. Set minLength and maxLength instead.'

/**
 * Returns regular expressions of users for checks that never block the process. `bounded` limits their number to that
 * of one schema.
 */
export function createInputPatterns({ bounded }: { bounded: boolean }): InputPatterns {
  // They are kept for one check only, because an expression that has run holds up to 8 MB.
  const compiled = new Map<string, LinearPattern>()
  let count = 0
  let size = 0
  let steps = 0

  const compile = (pattern: string): LinearPattern => {
    const known = compiled.get(pattern) ?? compilePattern(pattern)
    compiled.set(pattern, known)
    return known
  }
  const engine = (pattern: string) => {
    count += 1
    size += compile(pattern).size
    if (bounded && count > MAX_PATTERNS) throw new Error(`Must have at most ${MAX_PATTERNS} patterns.`)
    if (bounded && size > MAX_PATTERNS_SIZE) throw new Error(TOO_LARGE)
    const test = (text: string): boolean => {
      const expression = compile(pattern)
      steps += stepsOf(expression, text)
      if (steps > MAX_STEPS) throw new ToolProblem('The inputs are too long for the patterns of this action.')
      return expression.test(text)
    }
    // Ajv keeps one instance for each text.
    return { test, toString: () => pattern }
  }
  return {
    // The name is only used in generated code that is saved as a file, which does not happen here.
    engine: Object.assign(engine, { code: 'inputPattern' }),
    within(check) {
      steps = 0
      try {
        return check()
      } finally {
        compiled.clear()
      }
    },
  }
}

function compilePattern(pattern: string): LinearPattern {
  if (pattern.length > MAX_LENGTH) throw new Error(`A pattern must have at most ${MAX_LENGTH} characters.`)
  return linearPattern(pattern)
}
