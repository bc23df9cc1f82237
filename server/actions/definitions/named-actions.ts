import type { ProcedureStep } from '../../db/tables/actions.ts'

// Not what follows the @ of an e-mail address, nor a host after an @.
const MENTION = /(?<![\p{L}\p{N}_.%+-])@([a-zA-Z_][\w-]{0,63})(?![\w-])(?!\.\w)/gu

/** The actions that the steps of a procedure name, by the field or as @name in an instruction. */
export function namedActions(steps: ProcedureStep[]): Set<string> {
  const names = new Set<string>()
  for (const { instruction, action } of steps) {
    if (action !== null) names.add(action)
    for (const [, name = ''] of instruction.matchAll(MENTION)) names.add(name)
  }
  return names
}
