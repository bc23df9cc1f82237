import type { AgentRow } from '../../agents/records/find-agent.ts'
import type { Context } from '../../context.ts'

type Needs = Pick<Context, 'knowledge' | 'models' | 'log'>
type Agent = Pick<AgentRow, 'id' | 'account_id' | 'model' | 'instructions' | 'knowledge_version'>

/** Returns whether the agent's documents cover a question, so no model is called that costs money. */
export async function isAnswered(
  { knowledge }: Needs,
  agent: Agent,
  question: string,
  _signal: AbortSignal,
): Promise<boolean> {
  const searched = {
    id: agent.id,
    accountId: agent.account_id,
    knowledgeVersion: agent.knowledge_version,
  }
  return (await knowledge.search(searched, [question], { limit: 8 })).isFound
}
