import type { Tool } from '../tools/tool.ts'
import { ToolProblem } from '../tools/tool-problem.ts'

type Run = NonNullable<Tool['run']>

/** Runs a tool with validated inputs. Errors become a result for the model; our own faults are also logged. */
export function safely(onError: (error: unknown) => void, refuse: Tool['refuse'], run: Run): Run {
  return async (input, place) => {
    try {
      const problem = refuse(input)
      return problem === null ? await run(input, place) : { status: 'error', error: problem }
    } catch (error) {
      if (error instanceof ToolProblem) return { status: 'error', error: error.message }
      onError(error)
      return { status: 'error', error: 'The action could not be run.' }
    }
  }
}
