import { planOf } from '../accounts/plans.ts'
import type { Context } from '../context.ts'
import type { AccountId } from '../db/tables.ts'
import { ApiError } from '../http/errors.ts'
import { streamModel } from '../models/call-model.ts'
import { createLiveGeneration, type LiveGeneration } from './live-generation.ts'
import { buildPrompt, textOf } from './prompt.ts'
import { runGeneration } from './run-generation.ts'
import { startGeneration } from './start-generation.ts'
import { improveTitle } from './title-by-model.ts'

const PASSAGES = 8
/** Below this a question is likely a fragment of the talk before: it is searched together with what it follows. */
const SURE = 0.5

export type ChatRequest = {
  account: { id: AccountId; plan: string }
  agent: ChatAgent
  /** As conversations.source. */
  source: string
  /** Which of the agent's channelInstructions apply. */
  channel: string
  message: string | undefined
  conversationId: string | undefined
  userId: string | undefined
}

/** What a reply needs of its agent. */
export type ChatAgent = {
  id: string
  instructions: string
  channelInstructions: Record<string, unknown> | null
  model: string
  temp: number
  creditLimit: number | null
  knowledgeVersion: number
}

type Needs = Pick<Context, 'db' | 'log' | 'models' | 'knowledge' | 'generations'>

/** Stores the message and starts the reply; the generation then runs by itself, with or without a reader. */
export async function startChat(ctx: Needs, request: ChatRequest): Promise<LiveGeneration> {
  const { account, agent } = request
  const model = ctx.models.resolve(agent.model) ?? ctx.models.resolve('auto')
  if (!model) throw new Error('The model catalogue has no model for "auto".')
  const allowed = planOf(account.plan).models
  if (
    allowed &&
    agent.model !== 'auto' &&
    model.entry.provider !== 'builtin' &&
    !allowed.includes(agent.model)
  ) {
    throw new ApiError('CHAT_MODEL_NOT_ALLOWED')
  }
  ctx.generations.admit()
  const started = await startGeneration(ctx.db, { ...request, model: model.entry })
  const { ids, question, history } = started
  const live = createLiveGeneration(ids)
  ctx.generations.add(live)
  const job = {
    owner: { accountId: account.id, agentId: agent.id },
    model: model.entry,
    retrieve: () => retrieve(ctx, request, question, started.history.map(textOf)),
    answer: (found: Awaited<ReturnType<typeof retrieve>>, signal: AbortSignal) =>
      streamModel(
        model,
        {
          prompt: buildPrompt({
            instructions: agent.instructions,
            channelInstructions: instructionsFor(agent, request.channel),
            passages: found.passages,
            history,
            question,
            contextTokens: model.entry.contextTokens,
          }),
          temperature: agent.temp,
          maxOutputTokens: model.entry.maxOutputTokens,
          providerOptions: { parley: { question, ...found } as never },
        },
        { signal },
      ),
  }
  void runGeneration(ctx, job, live)
    .then(() =>
      started.isFirst && model.entry.provider !== 'builtin'
        ? improveTitle(ctx, model, job.owner, live, question)
        : undefined,
    )
    .catch((error: unknown) => ctx.log.error({ err: error }, 'generation'))
    .finally(() => ctx.generations.remove(live))
  return live
}

function instructionsFor({ channelInstructions }: ChatAgent, channel: string): string | null {
  const own = channelInstructions?.[channel]
  if (typeof own === 'string') return own
  return (own as { chat?: string } | undefined)?.chat ?? null
}

/** "And for children?" finds nothing by itself: a weak question is searched again with the one before. */
async function retrieve(
  { knowledge }: Needs,
  { account, agent }: ChatRequest,
  question: string,
  history: string[],
) {
  const where = { id: agent.id, accountId: account.id, knowledgeVersion: agent.knowledgeVersion }
  const found = await knowledge.search(where, question, { limit: PASSAGES })
  const before = history.at(-2)
  if (found.confidence >= SURE || before === undefined) return found
  const together = await knowledge.search(where, `${before.slice(0, 500)} ${question}`, { limit: PASSAGES })
  return together.confidence > found.confidence ? together : found
}
