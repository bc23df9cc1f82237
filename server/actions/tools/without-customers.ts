import type { Tool, ToolOutput } from './tool.ts'

const NOTES: Partial<Record<Tool['type'], string>> = {
  escalate: 'This was a trial, so no ticket was opened. For a customer, a ticket would have been opened.',
  'collect-leads': 'This was a trial, so no lead was stored. For a customer, a lead would have been stored.',
}

/**
 * Returns the tool for a trial by a team member. An action that would present a customer to the team only has its input
 * checked; everything else runs as it would for a customer.
 */
export function withoutCustomers(tool: Tool): Tool {
  const note = NOTES[tool.type]
  if (note === undefined) return tool
  return {
    ...tool,
    run: async (input): Promise<ToolOutput> => {
      const problem = tool.refuse(input)
      return problem === null ? { status: 'success', data: { note } } : { status: 'error', error: problem }
    },
  }
}

/** Returns the tool for a test, which has no effect: it returns what the test gives for it, or an error. */
export function mocked(tool: Tool, outputs: Readonly<Record<string, ToolOutput>>): Tool {
  if (tool.type === 'procedure') return tool
  const output = Object.hasOwn(outputs, tool.name) ? outputs[tool.name] : undefined
  const own = NOTES[tool.type] === undefined ? { ...tool, run: refused } : withoutCustomers(tool)
  return output ? { ...tool, run: async () => output } : own
}

const refused = async (): Promise<ToolOutput> => ({ status: 'error', error: 'The action is not available.' })
