import type { ProcedureStep } from '../../platform/db/tables/actions.ts'

// Excludes the domains of email addresses, and hosts after an @.
const MENTION = /(?<![\p{L}\p{N}_.%+-])@([a-zA-Z_][\w-]{0,63})(?![\w-])(?!\.\w)/gu

/** Returns the actions that the steps of a procedure name, in the field or as @name in an instruction. */
export function namedActions(steps: ProcedureStep[]): Set<string> {
  const names = new Set<string>()
  for (const { instruction, action } of steps) {
    if (action !== null) names.add(action)
    for (const [, name = ''] of instruction.matchAll(MENTION)) names.add(name)
  }
  return names
}
