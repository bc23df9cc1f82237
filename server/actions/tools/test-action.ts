import { newId } from '../../platform/db/ids.ts'
import type { ActionRow } from '../definitions/action-queries.ts'
import type { Tool, ToolOutput } from './tool.ts'
import { withoutCustomers } from './without-customers.ts'

const MAX_MS = 45_000

/** Runs an action as if a model had called it; `tool` is null where this installation cannot run it. */
export async function testAction(
  tool: Tool | null,
  { account_id: accountId, agent_id: agentId }: ActionRow,
  input: Record<string, unknown>,
): Promise<{ hasRun: boolean; output: ToolOutput; ms: number }> {
  if (!tool) return notRun({ status: 'error', error: 'This installation has no search service.' })
  const { run } = withoutCustomers(tool)
  const problem = tool.refuse(input)
  if (problem !== null) return notRun({ status: 'error', error: problem })
  if (!run) {
    const note = 'The input is valid. The action itself runs in your application.'
    return notRun({ status: 'success', data: { note } })
  }
  const startedAt = performance.now()
  const output = await run(input, {
    accountId,
    agentId,
    conversationId: newId(),
    userId: null,
    toolCallId: newId(),
    signal: AbortSignal.timeout(MAX_MS),
  })
  return { hasRun: true, output, ms: Math.round(performance.now() - startedAt) }
}

const notRun = (output: ToolOutput) => ({ hasRun: false, output, ms: 0 })
