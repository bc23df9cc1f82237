import { planOf } from '../../accounts/plans/plans.ts'
import type { Toolkit } from '../../actions/tools/tool.ts'
import { withoutCustomers } from '../../actions/tools/without-customers.ts'
import type { AgentRow } from '../../agents/records/find-agent.ts'
import type { Context } from '../../context.ts'
import type { AccountId } from '../../db/tables/columns.ts'
import { ApiError } from '../../http/errors.ts'
import type { KeyedRequest } from '../../http/once/idempotency.ts'
import type { AgentKnowledge } from '../../knowledge/index/update-index.ts'
import type { Handover } from '../../models/builtin/hand-over.ts'
import { streamModel } from '../../models/calls/call-model.ts'
import type { ResolvedModel } from '../../models/calls/model-call.ts'
import { textOf } from '../records/parts.ts'
import type { LiveGeneration } from '../stream/live-generation.ts'
import { takeOver, withFallback } from './answer-without-provider.ts'
import { withoutMarkers } from './citations.ts'
import type { Found, Job } from './generation-job.ts'
import { handoverAsked } from './handover-asked.ts'
import type { Said } from './history.ts'
import { summariseParent } from './parent-conversation.ts'
import { buildPrompt } from './prompt.ts'
import { retrieve } from './retrieve.ts'
import { runGeneration } from './run-generation.ts'
import { type StartedTurn, startGeneration } from './start-generation.ts'
import { improveTitle } from './title-by-model.ts'
import type { Trial } from './trial.ts'

export type ChatRequest = {
  account: { id: AccountId; plan: string }
  agent: ChatAgent
  /** The value for conversations.source. */
  source: string
  /** Which of the agent's channelInstructions and actions apply. */
  channel: string
  /** Whether the reply is spoken, so that the channel's instructions for voice apply. */
  isSpoken?: boolean
  message?: string
  conversationId?: string
  userId?: string
  parentConversationId?: string
  /** The caller's own name for the conversation that this starts. */
  externalId?: string
  /** The id of the contact whose conversation this starts. */
  contactId?: string
  /** The earlier messages, if the caller sends them; otherwise the stored ones are used. */
  told?: Said[]
  /** Whether nothing of the conversation is kept once it is answered. */
  transient?: boolean
  /** False where no application could run the agent's client actions; the agent then does without them. */
  runsClientActions?: boolean
  /** The id of the assistant message to generate again. */
  retryOf?: string
  /** Set for a run of the playground: it costs nothing, stores nothing about customers, and is watched. */
  trial?: Trial
  /** Whether to reply to the unanswered message that the conversation already holds. */
  pending?: boolean
  /** The request's Idempotency-Key, which is taken with the generation. */
  idempotency: KeyedRequest | null
  /** The failed generation of an earlier request with the same key, which this one replaces. */
  insteadOf?: string
}

/** The agent's properties that a reply needs. */
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
  | 'db'
  | 'log'
  | 'models'
  | 'knowledge'
  | 'generations'
  | 'toolkits'
  | 'customerWrote'
  | 'process'
  | 'secrets'
  | 'config'
>

/** Stores the message and starts the reply; the generation then runs by itself, with or without a reader. */
export async function startChat(ctx: Needs, request: ChatRequest): Promise<LiveGeneration> {
  const model = chooseModel(ctx, request)
  let started: StartedTurn | undefined
  const make = async () => {
    const { id, credits } = model.entry
    started = await startGeneration(ctx, {
      ...request,
      model: { id, credits: request.trial ? 0 : credits },
    })
    return started.ids
  }
  const { transient = false } = request
  const live = await ctx.generations.start(request.account.id, make, { transient })
  runInBackground(ctx, request, model, started as StartedTurn, live)
  return live
}

function runInBackground(
  ctx: Needs,
  request: ChatRequest,
  resolved: ResolvedModel,
  started: StartedTurn,
  live: LiveGeneration,
): void {
  const { account, agent } = request
  const model = noting(resolved, live)
  const owner = { accountId: account.id, agentId: agent.id }
  const question = textOf(started.transcript.findLast(({ role }) => role === 'user') ?? { parts: [] })
  const isBuiltin = model.entry.provider === 'builtin'
  let handover: Handover | null = null
  let mayOffer = false
  const job: Job = {
    owner,
    atOnce: planOf(account.plan).answersAtOnce,
    model: model.entry,
    citedBefore: started.citedBefore,
    async prepare(signal) {
      const prepared = await prepare(ctx, request, started, { model, question, signal })
      const escalate = prepared.toolkit.tools.find(({ type }) => type === 'escalate')
      if (escalate) mayOffer = true
      if (escalate) handover = handoverAsked(started.transcript, escalate.name)
      return prepared
    },
    answer(options, found, signal) {
      const askModel = ({ entry, wire }: ResolvedModel) => {
        const parts = streamModel(
          { entry, wire },
          {
            ...options,
            temperature: agent.temp,
            maxOutputTokens: entry.maxOutputTokens,
            providerOptions: {
              parley: { question, ...quotable(found, { entry, wire }), handover, mayOffer } as never,
            },
          },
          { signal },
        )
        return request.trial ? request.trial.watch(entry, options, live.ids, parts) : parts
      }
      // Only the start of a reply can be left to another model. A turn that has called a tool must go on from the
      // result.
      const isFirst = options.prompt.at(-1)?.role === 'user' && live.count === 0
      if (isBuiltin || !ctx.config.builtinFallback || !isFirst) return askModel(model)
      return withFallback(askModel(model), async (failure) => {
        const builtin = ctx.models.resolve('builtin')!
        ctx.log.warn({ err: failure, generation: live.ids.id }, 'the built-in responder answers instead')
        await takeOver(ctx, owner, live, builtin.entry)
        job.model = builtin.entry
        return askModel(builtin)
      })
    },
  }
  const makesTitle = started.isFirst && !request.transient && !request.trial && !isBuiltin
  runGeneration(ctx, job, live)
    .then(() =>
      makesTitle && job.model.provider !== 'builtin'
        ? improveTitle(ctx, model, owner, live, question)
        : undefined,
    )
    .catch((error: unknown) => ctx.log.error({ err: error }, 'generation'))
}

/** Wraps a model so that each of its requests is noted in the generation that sends it. */
const noting = ({ entry, wire }: ResolvedModel, live: LiveGeneration): ResolvedModel => ({
  entry,
  async wire() {
    const send = await wire()
    return (options, receiver) => {
      live.noteAsked()
      return send(options, receiver)
    }
  },
})

/** Passages for the built-in responder must not contain citation markers of their own. */
const quotable = ({ passages, ...rest }: Found, { entry }: ResolvedModel): Found => ({
  ...rest,
  passages:
    entry.provider === 'builtin'
      ? passages.map((passage) => ({ ...passage, text: withoutMarkers(passage.text) }))
      : passages,
})

function chooseModel({ models }: Needs, { account, agent }: ChatRequest): ResolvedModel {
  const model = models.resolve(agent.model) ?? models.resolve('auto')
  if (!model) throw new Error('The model catalogue has no model for "auto".')
  const allowed = planOf(account.plan).models
  const isFree = agent.model === 'auto' || model.entry.provider === 'builtin'
  if (allowed && !isFree && !allowed.includes(agent.model)) throw new ApiError('CHAT_MODEL_NOT_ALLOWED')
  return model
}

/** Collects everything that the model reads. */
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
  request.trial?.noteFound(found)
  const prompt = buildPrompt({
    instructions: agent.instructions,
    channelInstructions: instructionsFor(request),
    parentSummary,
    procedures: toolkit.procedures,
    hasTools: toolkit.tools.length > 0,
    passages: found.passages,
    transcript,
    contextTokens: model.entry.contextTokens,
  })
  return { found, toolkit, prompt }
}

async function toolkitOf(
  { toolkits }: Needs,
  { account, agent, channel, runsClientActions = true, trial }: ChatRequest,
  conversationId: string,
): Promise<Toolkit> {
  const who = { accountId: account.id, agentId: agent.id, toolsVersion: agent.toolsVersion }
  const toolkit = await toolkits.forAgent(who, channel, conversationId)
  if (trial) return { ...toolkit, tools: toolkit.tools.map(withoutCustomers) }
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
