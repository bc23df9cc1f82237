import type { Tool } from '../tools/tool.ts'
import { ToolProblem } from '../tools/tool-problem.ts'

type Run = NonNullable<Tool['run']>

/** Runs a tool with inputs that were checked; what goes wrong becomes an answer, a fault of ours goes to the log. */
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
