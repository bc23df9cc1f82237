import {
  LARGEST_PATTERNS,
  type LinearPattern,
  linearPattern,
  stepsOf,
} from '../../text/safety/linear-pattern.ts'
import { ToolProblem } from '../tools/tool-problem.ts'

export type InputPatterns = {
  /** What Ajv makes expressions with; throws a sentence for one that cannot be used. */
  engine: { (pattern: string): { test(text: string): boolean; toString(): string }; code: string }
  /** Runs one check; throws ToolProblem when its patterns and texts together are too much. */
  within<T>(check: () => T): T
}

const LONGEST = 200
const MOST_PATTERNS = 20
// Of one check: 0.1 s at worst.
const MOST_STEPS = 1_000_000

const TOO_LARGE =
  'Its patterns are too large: the counts of their repeats may be 500 in all. Set minLength and maxLength instead.'

/** Expressions of users for checks that never hold the process; `bounded`: as many as one schema may have. */
export function createInputPatterns({ bounded }: { bounded: boolean }): InputPatterns {
  // Kept for one check only: an expression that has run holds up to 8 MB.
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
    if (bounded && count > MOST_PATTERNS) throw new Error(`Must have at most ${MOST_PATTERNS} patterns.`)
    if (bounded && size > LARGEST_PATTERNS) throw new Error(TOO_LARGE)
    const test = (text: string): boolean => {
      const expression = compile(pattern)
      steps += stepsOf(expression, text)
      if (steps > MOST_STEPS)
        throw new ToolProblem('The inputs are too long for the patterns of this action.')
      return expression.test(text)
    }
    // Ajv keeps one of each text.
    return { test, toString: () => pattern }
  }
  return {
    // The name is for generated code that is kept as a file, which this never is.
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
  if (pattern.length > LONGEST) throw new Error(`A pattern must have at most ${LONGEST} characters.`)
  return linearPattern(pattern)
}
