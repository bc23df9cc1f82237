import { RE2JS } from 're2js'

const LONGEST = 1_000

/** A regular expression of a user, as Ajv wants it, that takes linear time; throws a sentence when it has none. */
export function linearPattern(pattern: string): { test(text: string): boolean; toString(): string } {
  if (pattern.length > LONGEST) throw new Error(`A pattern has more than ${LONGEST} characters.`)
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern))
    // Ajv keeps one of each text.
    return { test: (text) => compiled.test(text), toString: () => pattern }
  } catch {
    throw new Error(
      `The pattern ${JSON.stringify(pattern)} cannot be used: only expressions that run in linear time are taken (RE2 syntax, without lookaround and backreferences).`,
    )
  }
}
