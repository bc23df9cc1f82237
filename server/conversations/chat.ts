import { planOf } from '../accounts/plans.ts'
import type { Toolkit } from '../actions/tool.ts'
import type { AgentRow } from '../agents/find-agent.ts'
import type { Context } from '../context.ts'
import type { AccountId } from '../db/tables.ts'
import { ApiError } from '../http/errors.ts'
import type { AgentKnowledge } from '../knowledge/knowledge.ts'
import { streamModel } from '../models/call-model.ts'
import type { ResolvedModel } from '../models/models.ts'
import type { Said } from './history.ts'
import { createLiveGeneration, type LiveGeneration } from './live-generation.ts'
import { summariseParent } from './parent-conversation.ts'
import { textOf } from './parts.ts'
import { buildPrompt } from './prompt.ts'
import { retrieve } from './retrieve.ts'
import { type Job, runGeneration } from './run-generation.ts'
import { type StartedTurn, startGeneration } from './start-generation.ts'
import { improveTitle } from './title-by-model.ts'

export type ChatRequest = {
  account: { id: AccountId; plan: string }
  agent: ChatAgent
  /** As conversations.source. */
  source: string
  /** Which of the agent's channelInstructions and actions apply. */
  channel: string
  /** It is heard, not read: the channel's instructions for voice apply. */
  isSpoken?: boolean
  message?: string
  conversationId?: string
  userId?: string
  parentConversationId?: string
  /** The caller's own name for the conversation that this starts. */
  externalId?: string
  /** Whose conversation this starts: the id of a contact. */
  contactId?: string
  /** What was said before, where the caller says it; else what is stored. */
  told?: Said[]
  /** Nothing of it is kept once it is answered. */
  transient?: boolean
  /** False where nobody could run them: the agent then does without its client actions. */
  runsClientActions?: boolean
  /** The assistant message to answer anew. */
  retryOf?: string
  /** Answer what the conversation holds unanswered; its message is there already. */
  pending?: boolean
  /** Binds the generation to the request's Idempotency-Key. */
  idempotencyKey: string | null
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
  toolsVersion: number
}

export const chatAgentOf = (row: AgentRow): ChatAgent => ({
  id: row.id,
  instructions: row.instructions,
  channelInstructions: row.channel_instructions,
  model: row.model,
  temp: row.temp,
  creditLimit: row.credit_limit,
  knowledgeVersion: row.knowledge_version,
  toolsVersion: row.tools_version,
})

type Needs = Pick<
  Context,
  'db' | 'log' | 'models' | 'knowledge' | 'generations' | 'toolkits' | 'customerWrote'
>

/** Stores the message and starts the reply; the generation then runs by itself, with or without a reader. */
export async function startChat(ctx: Needs, request: ChatRequest): Promise<LiveGeneration> {
  const model = chooseModel(ctx, request)
  return ctx.generations.start(request.account.id, async () => {
    const started = await startGeneration(ctx, { ...request, model: model.entry })
    const live = createLiveGeneration(started.ids)
    runInBackground(ctx, request, model, started, live)
    return live
  })
}

function runInBackground(
  ctx: Needs,
  request: ChatRequest,
  model: ResolvedModel,
  started: StartedTurn,
  live: LiveGeneration,
): void {
  const { account, agent } = request
  const owner = { accountId: account.id, agentId: agent.id }
  const question = textOf(started.transcript.findLast(({ role }) => role === 'user') ?? { parts: [] })
  const job: Job = {
    owner,
    model: model.entry,
    prepare: (signal) => prepare(ctx, request, started, { model, question, signal }),
    answer: (options, found, signal) =>
      streamModel(
        model,
        {
          ...options,
          temperature: agent.temp,
          maxOutputTokens: model.entry.maxOutputTokens,
          providerOptions: { parley: { question, ...found } as never },
        },
        { signal },
      ),
  }
  const makesTitle = started.isFirst && !request.transient && model.entry.provider !== 'builtin'
  runGeneration(ctx, job, live)
    .then(() => (makesTitle ? improveTitle(ctx, model, owner, live, question) : undefined))
    .catch((error: unknown) => ctx.log.error({ err: error }, 'generation'))
}

function chooseModel({ models }: Needs, { account, agent }: ChatRequest): ResolvedModel {
  const model = models.resolve(agent.model) ?? models.resolve('auto')
  if (!model) throw new Error('The model catalogue has no model for "auto".')
  const allowed = planOf(account.plan).models
  const isFree = agent.model === 'auto' || model.entry.provider === 'builtin'
  if (allowed && !isFree && !allowed.includes(agent.model)) throw new ApiError('CHAT_MODEL_NOT_ALLOWED')
  return model
}

/** Everything the model reads. */
async function prepare(
  ctx: Needs,
  request: ChatRequest,
  { ids, transcript, isFirst, parent }: StartedTurn,
  { model, question, signal }: { model: ResolvedModel; question: string; signal: AbortSignal },
): Promise<Awaited<ReturnType<Job['prepare']>>> {
  const { account, agent } = request
  const place = { accountId: account.id, conversationId: ids.conversationId }
  const [found, toolkit, parentSummary] = await Promise.all([
    retrieve(ctx, knowledgeOf(request), { model, question, transcript, signal }),
    toolkitOf(ctx, request, ids.conversationId),
    parent && isFirst && model.entry.provider !== 'builtin'
      ? summariseParent(ctx, model, place, parent, signal)
      : (parent?.summary ?? null),
  ])
  const prompt = buildPrompt({
    instructions: agent.instructions,
    channelInstructions: instructionsFor(request),
    parentSummary,
    procedures: toolkit.procedures,
    passages: found.passages,
    transcript,
    contextTokens: model.entry.contextTokens,
  })
  return { found, toolkit, prompt }
}

async function toolkitOf(
  { toolkits }: Needs,
  { account, agent, channel, runsClientActions = true }: ChatRequest,
  conversationId: string,
): Promise<Toolkit> {
  const who = { accountId: account.id, agentId: agent.id, toolsVersion: agent.toolsVersion }
  const toolkit = await toolkits.forAgent(who, channel, conversationId)
  return runsClientActions ? toolkit : { ...toolkit, tools: toolkit.tools.filter(({ run }) => run !== null) }
}

function instructionsFor({ agent, channel, isSpoken = false }: ChatRequest): string | null {
  const own = agent.channelInstructions?.[channel]
  if (typeof own === 'string') return own
  const { chat = null, voice = null } = (own ?? {}) as { chat?: string; voice?: string }
  return isSpoken ? (voice ?? chat) : chat
}

const knowledgeOf = ({ account, agent }: ChatRequest): AgentKnowledge => ({
  id: agent.id,
  accountId: account.id,
  knowledgeVersion: agent.knowledgeVersion,
})
