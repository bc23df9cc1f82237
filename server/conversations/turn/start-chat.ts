import { planOf } from '../../accounts/plans/plans.ts'
import { ApiError } from '../../http/errors.ts'
import type { ResolvedModel } from '../../models/calls/model-call.ts'
import { textOf } from '../records/parts.ts'
import type { LiveGeneration } from '../stream/live-generation.ts'
import { runTurn } from './run-steps.ts'
import { startGeneration } from './start-generation.ts'
import { improveTitle } from './title.ts'
import type { ChatRequest, StartedTurn, Turn, TurnNeeds } from './turn.ts'

/** Stores the message and starts the reply; the generation then runs by itself, with or without a reader. */
export async function startChat(ctx: TurnNeeds, request: ChatRequest): Promise<LiveGeneration> {
  const { account, agent, transient = false } = request
  const model = chooseModel(ctx, request)
  let stored: StartedTurn | undefined
  const make = async () => {
    const { id, credits } = model.entry
    stored = await startGeneration(ctx, {
      ...request,
      model: { id, credits: request.trial ? 0 : credits },
    })
    return stored.ids
  }
  const live = await ctx.generations.start(account.id, make, { transient })
  // Generations.start has called `make`, or it has thrown.
  const started = stored as unknown as StartedTurn
  const turn: Turn = {
    request,
    started,
    owner: { accountId: account.id, agentId: agent.id },
    question: textOf(started.transcript.findLast(({ role }) => role === 'user') ?? { parts: [] }),
    model: noting(model, live),
  }
  runTurn(ctx, turn, live)
    .then(() => giveTitle(ctx, turn, live))
    .catch((error: unknown) => ctx.log.error({ err: error }, 'generation'))
  return live
}

function chooseModel({ models }: TurnNeeds, { account, agent }: ChatRequest): ResolvedModel {
  const model = models.resolve(agent.model) ?? models.resolve('auto')
  if (!model) throw new Error('The model catalogue has no model for "auto".')
  const allowed = planOf(account.plan).models
  const isFree = agent.model === 'auto' || model.entry.provider === 'builtin'
  if (allowed && !isFree && !allowed.includes(agent.model)) throw new ApiError('CHAT_MODEL_NOT_ALLOWED')
  return model
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

async function giveTitle(ctx: TurnNeeds, turn: Turn, live: LiveGeneration): Promise<void> {
  const { request, started, model, owner, question } = turn
  if (started.isFirst && !request.transient && !request.trial && model.entry.provider !== 'builtin')
    await improveTitle(ctx, model, owner, live, question)
}
