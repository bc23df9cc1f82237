import { setImmediate } from 'node:timers/promises'
import type { AgentRow } from '../../agents/records/find-agent.ts'
import type { Context } from '../../context.ts'
import { understand } from '../../conversations/turn/understand.ts'
import { retrieve } from '../../knowledge/search/answering/retrieve.ts'
import { streamModel } from '../../models/calls/call-model.ts'
import { FOUND_FROM } from '../unanswered/find-unanswered.ts'

type Needs = Pick<Context, 'knowledge' | 'models' | 'log'>
type Agent = Pick<AgentRow, 'id' | 'account_id' | 'model' | 'instructions' | 'knowledge_version'>

/**
 * Returns whether the agent finds an answer to a question, by what makes a question count as unanswered: the built-in
 * responder is asked, and of an agent with a language model the search decides, so no model is called that costs money.
 */
export async function isAnswered(
  { knowledge, models, log }: Needs,
  agent: Agent,
  question: string,
  signal: AbortSignal,
): Promise<boolean> {
  // Many searches in a row would block other requests.
  await setImmediate()
  const searched = {
    id: agent.id,
    accountId: agent.account_id,
    knowledgeVersion: agent.knowledge_version,
  }
  const builtin = models.resolve('builtin')!
  const model = models.resolve(agent.model) ?? builtin
  const documents = await knowledge.summary(searched)
  const message =
    model.entry.provider === 'builtin'
      ? understand(question, [], { documents: documents.language, instructions: agent.instructions })
      : { kind: 'question' as const, language: null, isSure: true, question }
  const found = await retrieve({ knowledge, models, log }, searched, { model, message, talk: [], signal })
  if (model.entry.provider !== 'builtin') return found.confidence >= FOUND_FROM
  const asked = { ...found, question: message.question, message, documents }
  const options = { prompt: [], providerOptions: { parley: asked as never } }
  for await (const parts of streamModel(model, options, { signal })) {
    for (const part of parts) {
      if (part.type !== 'finish') continue
      const { parley } = part.providerMetadata as { parley: { cited: number[] } }
      return parley.cited.length > 0
    }
  }
  return false
}
