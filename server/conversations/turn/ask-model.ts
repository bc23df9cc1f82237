import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider'
import { changeReservation, exhaustedIn, limitsOf } from '../../accounts/plans/credits.ts'
import { planOf } from '../../accounts/plans/plans.ts'
import { streamModel } from '../../ai/calls/call-model.ts'
import type { CallOptions, ResolvedModel } from '../../ai/calls/model-call.ts'
import type { ModelEntry } from '../../ai/catalogue/catalogue.ts'
import { ModelFailure } from '../../ai/failures/model-failure.ts'
import { withoutMarkers } from '../../knowledge/search/answering/citations.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { LiveGeneration } from '../stream/reading.ts'
import type { ChatRequest, Prepared, Running, Turn, TurnNeeds } from './turn.ts'

type Parts = AsyncIterable<LanguageModelV4StreamPart[]>

/** Returns the agent's model, or the one for `auto` if it is gone. Throws CHAT_MODEL_NOT_ALLOWED. */
export function chooseModel({ models }: TurnNeeds, { account, agent }: ChatRequest): ResolvedModel {
  const model = models.resolve(agent.model) ?? models.resolve('auto')
  if (!model) throw new Error('The model catalogue has no model for "auto".')
  const allowed = planOf(account.plan).models
  const isFree = agent.model === 'auto' || model.entry.provider === 'builtin'
  if (allowed && !isFree && !allowed.includes(agent.model)) throw new ApiError('CHAT_MODEL_NOT_ALLOWED')
  return model
}

/**
 * Returns the models that answer in place of one that fails, in order: its fallbacks, as far as the account's plan allows
 * them, and the built-in responder where the operator wants it.
 */
export function standInsFor(
  { models, config }: Pick<TurnNeeds, 'models' | 'config'>,
  { account }: Pick<ChatRequest, 'account'>,
  { entry }: ResolvedModel,
): ResolvedModel[] {
  const allowed = planOf(account.plan).models
  const auto = models.resolve('auto')?.entry.id
  const isAllowed = (id: string): boolean => !allowed || id === auto || allowed.includes(id)
  const others = entry.fallbacks.filter(isAllowed).map((id) => models.resolve(id))
  const builtin = config.builtinFallback && entry.provider !== 'builtin' ? models.resolve('builtin') : null
  return [...new Set([...others, builtin])].filter((model) => model !== null)
}

/** Wraps a model so that each of its requests is noted in the generation that sends it. */
export const noting = (model: ResolvedModel, live: LiveGeneration): ResolvedModel => ({
  ...model,
  async wire() {
    const send = await model.wire()
    return (...request) => {
      live.noteAsked()
      return send(...request)
    }
  },
})

/** The types of stream parts that show a part of the answer. */
const SHOWN: ReadonlySet<LanguageModelV4StreamPart['type']> = new Set([
  'text-delta',
  'tool-input-start',
  'tool-call',
  'finish',
])

/** What the models of a turn read: the prompt, and what was said and returned since. */
export type Talk = { prompt: LanguageModelV4Prompt; since: LanguageModelV4Message[] }
type Options = Omit<CallOptions, 'prompt' | 'providerOptions' | 'temperature' | 'cacheKey'>

/**
 * Calls the model of the turn. If its provider fails before anything is shown, the next model that may answers instead.
 * Each array holds the parts of one read from the network. Throws ModelFailure.
 */
export function askModel(running: Running, prepared: Prepared, talk: Talk, options: Options): Parts {
  const { turn, live } = running
  const { traces } = running.ctx
  const ask = () => {
    const parts = streamOf(running, prepared, talk, options)
    return traces && turn.model.entry.provider !== 'builtin' ? traces.call(turn, live, options, parts) : parts
  }
  return withStandIns(ask, (failure) => takeOver(running, prepared, talk, failure))
}

/**
 * Lets the next model take over the turn, at its own price. Returns false when no other may: text has been shown, an
 * action has run or been called, or all have been asked.
 */
export async function takeOver(
  { ctx, turn, live }: Running,
  prepared: Prepared,
  talk: Talk,
  failure: unknown,
): Promise<boolean> {
  while (live.count === 0) {
    const next = turn.standIns.shift()
    if (!next) return false
    const { entry } = next
    const isBuiltin = entry.provider === 'builtin'
    // The built-in responder cannot read what tools return.
    if (isBuiltin && (talk.since.length > 0 || talk.prompt.at(-1)?.role !== 'user')) continue
    const about = { err: failure, generation: live.ids.id, instead: entry.id }
    try {
      await assign(ctx, turn, live, entry)
    } catch (error) {
      if (exhaustedIn(error) === null) throw error
      ctx.log.warn(about, 'there are no credits for the model that would answer instead')
      continue
    }
    ctx.log.warn(about, 'another model answers instead')
    live.ids.standIn = entry.id
    turn.model = isBuiltin ? next : noting(next, live)
    talk.prompt = prepared.promptFor(entry)
    talk.since = talk.since.map(readByOthers)
    return true
  }
  return false
}

/** Removes what only the model that wrote a message can read: its reasoning and its signatures. */
const readByOthers = (said: LanguageModelV4Message): LanguageModelV4Message =>
  said.role === 'assistant'
    ? {
        role: 'assistant',
        content: said.content.flatMap((part) => {
          const { providerOptions: _, ...rest } = part
          return part.type === 'reasoning' ? [] : [rest]
        }),
      }
    : said

function streamOf(
  { turn: { request, model, record }, live }: Running,
  { found, said, cacheKey }: Prepared,
  talk: Talk,
  options: Options,
): Parts {
  const { entry } = model
  // Passages for the built-in responder must not contain citation markers of their own.
  const passages =
    entry.provider === 'builtin'
      ? found.passages.map((passage) => ({ ...passage, text: withoutMarkers(passage.text) }))
      : found.passages
  const read = { ...options, prompt: [...talk.prompt, ...talk.since] }
  const parts = streamModel(
    model,
    {
      maxOutputTokens: entry.maxOutputTokens,
      ...read,
      temperature: request.agent.temp,
      cacheKey,
      providerOptions: {
        parley: { ...found, ...said, passages, question: found.question ?? '' } as never,
      },
    },
    { signal: live.signal },
  )
  return record ? record.watch(entry, read, parts) : parts
}

/**
 * Yields what a provider streams or, if it fails before any of the answer could be shown, what the next one does. Parts
 * that show nothing are held back until the first that does, because only then it is certain that nothing will be
 * replaced.
 */
async function* withStandIns(
  ask: () => Parts,
  takeOver: (failure: ModelFailure) => Promise<boolean>,
): AsyncGenerator<LanguageModelV4StreamPart[]> {
  for (;;) {
    const held: LanguageModelV4StreamPart[] = []
    let isShown = false
    try {
      for await (const parts of ask()) {
        if (!isShown && !parts.some(({ type }) => SHOWN.has(type))) {
          held.push(...parts)
          continue
        }
        yield isShown ? parts : [...held, ...parts]
        isShown = true
      }
      if (!isShown && held.length > 0) yield held
      return
    } catch (error) {
      if (isShown || !(error instanceof ModelFailure) || error.kind === 'aborted') throw error
      if (!(await takeOver(error))) throw error
    }
  }
}

/** Assigns the generation to another model at its price. Throws what `exhaustedIn` recognises. */
export async function assign(
  { db }: Pick<TurnNeeds, 'db'>,
  { request, owner }: Turn,
  { ids }: LiveGeneration,
  { id, credits: price }: ModelEntry,
): Promise<void> {
  const { account, agent, trial } = request
  const credits = trial ? 0 : price
  const limits = limitsOf({
    ...owner,
    plan: account.plan,
    agentLimit: agent.creditLimit,
  })
  await transact(db, async (trx) => {
    await trx
      .updateTable('generations')
      .set({ model: id, credits })
      .where('account_id', '=', owner.accountId)
      .where('id', '=', ids.id)
      .where('status', '=', 'running')
      .execute()
    await changeReservation(trx, limits, owner.accountId, ids.id, credits)
  })
  ids.credits = credits
}
