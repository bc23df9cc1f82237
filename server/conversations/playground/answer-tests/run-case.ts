import type { Static } from 'typebox'
import { accountOf } from '../../../accounts/records/accounts.ts'
import type { ToolOutput } from '../../../actions/tools/tool.ts'
import { requireAgent } from '../../../agents/records/find-agent.ts'
import type { Asker, SideCall } from '../../../ai/calls/call-model.ts'
import type { ResolvedModel } from '../../../ai/calls/model-call.ts'
import { ModelFailure, whatHappened } from '../../../ai/failures/model-failure.ts'
import type { AgentRef } from '../../../platform/db/refs.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { type AnswerRecord, recordAnswer } from '../../explanations/record-answer.ts'
import { textOf } from '../../records/parts.ts'
import { PLAYGROUND, type TranscriptMessage } from '../../records/queries.ts'
import type { ChatAnswer } from '../../records/schema.ts'
import { whileWatching } from '../../stream/send-stream.ts'
import { chatAgentOf, startChat } from '../../turn/start.ts'
import type { ChatRequest, TurnNeeds } from '../../turn/turn.ts'
import { judgeGoal, nextMove, UnreadableMove } from './cases/simulated-customer.ts'
import { checkAnswer } from './check-answer.ts'
import { type Judged, judgeAnswer, piecesOf } from './judging/judge-answer.ts'
import type { CaseOfRun, Result, RunSettings } from './schema.ts'

/** A conversation with the agent, and what its answers were made of. */
type Talk = {
  messages: TranscriptMessage[]
  calls: Result['calls']
  /** The sources that each answer cites, and the outcome that the model reported. */
  answers: Pick<Result, 'sources' | 'outcome'>[]
  /** How the conversation with a simulated customer ended. */
  ending: Result['ending'] | null
  /** The last answer; null if there is none. */
  answer: Static<typeof ChatAnswer>['data'] | null
  made: AnswerRecord | null
  /** The instructions that the agent had. */
  instructions: string
  steps: AnswerRecord['run']['steps']
  credits: number
  spent: Spent
  error: string | null
}

/** What all calls have cost, as far as it is known. */
type Spent = { dollars: number; isUnpriced: boolean }

/** Asks one case once and checks what is answered. Nothing of the conversation is kept but the result. */
export async function runCase(
  ctx: TurnNeeds,
  ref: AgentRef,
  settings: RunSettings,
  asked: CaseOfRun,
  repetition: number,
  signal: AbortSignal,
): Promise<Result> {
  const begun = performance.now()
  const talk = await converse(ctx, ref, settings, asked, signal)
  const { answer, calls, made, steps, ending } = talk
  const last = answer ? talk.answers.at(-1) : undefined
  const answered = {
    messages: saidIn(talk),
    calls,
    sources: last?.sources ?? [],
    outcome: last?.outcome ?? null,
  }
  const isHandedOver = await hasEscalated(ctx, ref, calls)
  const { checks, judgement } = answer
    ? await checksOf(ctx, ref, settings, asked, talk, { ...answered, isHandedOver }, signal)
    : { checks: [], judgement: null }
  return {
    caseId: asked.id,
    name: asked.name,
    repetition,
    passed: answer === null ? false : passedOf(checks),
    checks,
    ...answered,
    ...(ending ? { ending } : {}),
    model: steps.at(-1)?.model ?? null,
    credits: talk.credits,
    inputTokens: sum(steps.map((step) => step.inputTokens)),
    outputTokens: sum(steps.map((step) => step.outputTokens)),
    dollars: sum(steps.map((step) => step.dollars ?? null)),
    firstMs: made?.run.steps[0]?.firstMs ?? null,
    ms: Math.round(performance.now() - begun),
    error: talk.error,
    spentDollars: talk.spent.dollars,
    isUnpriced: talk.spent.isUnpriced,
    judgement,
  }
}

/** A check that failed decides; null if nobody could tell about another one. */
function passedOf(checks: Result['checks']): boolean | null {
  if (checks.some(({ passed }) => passed === false)) return false
  return checks.some(({ passed }) => passed === null) ? null : true
}

/** Asks the messages of a case one after the other, until an answer fails. */
async function converse(
  ctx: TurnNeeds,
  ref: AgentRef,
  settings: RunSettings,
  asked: CaseOfRun,
  signal: AbortSignal,
): Promise<Talk> {
  const talk: Talk = {
    messages: [],
    calls: [],
    answers: [],
    ending: null,
    answer: null,
    made: null,
    instructions: '',
    steps: [],
    credits: 0,
    spent: { dollars: 0, isUnpriced: false },
    error: asked.messages.length === 0 && !asked.customer ? 'The case was deleted.' : null,
  }
  for (const text of asked.messages) {
    signal.throwIfAborted()
    await ask(ctx, ref, settings, asked, talk, text, signal)
    if (!talk.answer) return talk
  }
  if (asked.customer) await continueAs(ctx, ref, settings, asked, asked.customer, talk, signal)
  return talk
}

const saidIn = ({ messages }: Talk): Result['messages'] =>
  messages.map((said) => ({ role: said.role, text: textOf(said) }))

/** Lets a model play the customer until content, gone, or at the limit. */
async function continueAs(
  ctx: TurnNeeds,
  ref: AgentRef,
  settings: RunSettings,
  asked: CaseOfRun,
  customer: NonNullable<CaseOfRun['customer']>,
  talk: Talk,
  signal: AbortSignal,
): Promise<void> {
  const model = sideModel(ctx)
  if (!model) {
    talk.answer = null
    talk.error = 'There is no language model that could play the customer.'
    return
  }
  for (let asks = asked.messages.length; ; asks++) {
    signal.throwIfAborted()
    try {
      const move = await nextMove(asTest(ctx, ref, talk.spent), model, customer, saidIn(talk), signal)
      talk.ending = 'ending' in move ? move.ending : asks < customer.maxMessages ? null : 'limit'
      if ('ending' in move || talk.ending) return
      await ask(ctx, ref, settings, asked, talk, move.message, signal)
    } catch (failure) {
      signal.throwIfAborted()
      if (failure instanceof ApiError) throw failure
      talk.answer = null
      talk.error = reasonOf(ctx, failure)
    }
    if (!talk.answer) return
  }
}

/** On whose behalf a model plays customers and judges, and who notes what that costs. */
function asTest({ models }: Pick<TurnNeeds, 'models'>, { accountId, agentId }: AgentRef, spent: Spent) {
  const asker: Asker = { accountId, agentId, purpose: 'tests' }
  const noteCall = (call: SideCall): void => {
    models.noteCall(call)
    noteCost(spent, call.use.dollars, call.error === null)
  }
  return { models: { noteCall }, asker }
}

/** A call that has said nothing costs nothing, as far as anybody knows. */
function noteCost(spent: Spent, dollars: number | null, hasSaid: boolean): void {
  spent.dollars += dollars ?? 0
  spent.isUnpriced ||= dollars === null && hasSaid
}

/** Returns the model that plays customers and judges; null if there is no language model. */
function sideModel({ models }: Pick<TurnNeeds, 'models'>): ResolvedModel | null {
  const model = models.resolve('auto')
  return model && model.entry.provider !== 'builtin' ? models.small(model) : null
}

/** Adds a customer's message and its answer to the conversation; no answer, and the reason, if that fails. */
async function ask(
  ctx: TurnNeeds,
  ref: AgentRef,
  settings: RunSettings,
  asked: CaseOfRun,
  talk: Talk,
  text: string,
  signal: AbortSignal,
): Promise<void> {
  const trial = recordAnswer({ channel: asked.channel ?? 'api', temp: settings.temp ?? 0 }, 'always')
  const history = [...talk.messages]
  talk.messages.push({ role: 'user', parts: [{ type: 'text', text }] })
  talk.answer = null
  try {
    const request = await requestOf(ctx, ref, settings, asked)
    talk.instructions = request.agent.instructions
    const reading = await startChat(ctx, { ...request, ask: { kind: 'message', text }, history, trial })
    const stop = (): unknown => reading.abort('stop')
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop)
    talk.answer = await whileWatching(reading, reading.answer).finally(() =>
      signal.removeEventListener('abort', stop),
    )
    signal.throwIfAborted()
  } catch (failure) {
    signal.throwIfAborted()
    if (failure instanceof ApiError && failure.code === 'SERVICE_OVERLOADED') throw failure
    talk.error = reasonOf(ctx, failure)
  }
  const record = trial.made()
  talk.made = record ?? talk.made
  talk.steps.push(...trial.steps)
  for (const [at, { model, inputTokens, firstMs }] of trial.steps.entries())
    if (model !== 'builtin')
      noteCost(talk.spent, trial.uses[at]?.dollars ?? null, inputTokens !== null || firstMs !== null)
  talk.credits += record?.run.credits ?? 0
  if (!talk.answer) return
  talk.messages.push({ role: 'assistant', parts: talk.answer.parts as TranscriptMessage['parts'] })
  const { sources, outcome } = talk.answer.metadata
  talk.answers.push({ sources: sources.map(({ id, name }) => ({ id, name })), outcome })
  for (const part of talk.answer.parts)
    if (part.type === 'tool-call') talk.calls.push({ name: part.toolName, input: part.input })
}

type Answered = Parameters<typeof checkAnswer>[1]

/** Checks in code first. An answer that has passed them goes to the judge, if the run has one. */
async function checksOf(
  ctx: TurnNeeds,
  ref: AgentRef,
  settings: RunSettings,
  asked: CaseOfRun,
  talk: Talk,
  answered: Answered,
  signal: AbortSignal,
): Promise<Judged> {
  const { customer, expect } = asked
  const inCode = checkAnswer(asked, customer ? wholeTalk(talk, answered) : answered)
  if (inCode.some(({ passed }) => passed === false)) return { checks: inCode, judgement: null }
  const model = settings.judges ? sideModel(ctx) : null
  const pieces = piecesOf(talk.made?.run ?? null, talk.instructions, answered.messages)
  const by = { ...asTest(ctx, ref, talk.spent), log: ctx.log }
  const judged = await judgeAnswer({ ...by, model }, asked, answered.messages, pieces, signal)
  const goal =
    customer && expect.reachesGoal !== undefined
      ? [await judgeGoal(by, model, customer, expect.reachesGoal, answered.messages, signal)]
      : []
  return { checks: [...inCode, ...judged.checks, ...goal], judgement: judged.judgement }
}

/** All answers as one: nobody knows in which of them a simulated customer is told something. */
function wholeTalk({ answers }: Talk, answered: Answered): Answered {
  const said = answered.messages.filter(({ role }) => role === 'assistant')
  const outcomes = answers.map(({ outcome }) => outcome)
  return {
    ...answered,
    messages: [{ role: 'assistant', text: said.map(({ text }) => text).join('\n') }],
    sources: answers.flatMap(({ sources }) => sources),
    outcome: outcomes.find((outcome) => outcome === 'not_found') ?? outcomes.at(-1) ?? null,
  }
}

/** Nothing of a test is kept: the conversation is gone with its answer, and no action is run. */
async function requestOf(
  { db }: Pick<TurnNeeds, 'db'>,
  ref: AgentRef,
  settings: RunSettings,
  asked: CaseOfRun,
): Promise<Omit<ChatRequest, 'ask'>> {
  const [row, account] = await Promise.all([requireAgent(db, ref), accountOf(db, ref.accountId)])
  const own = chatAgentOf(row, settings.snapshot)
  return {
    account: { id: ref.accountId, plan: account.plan },
    agent: {
      ...own,
      instructions: settings.instructions ?? own.instructions,
      model: settings.model ?? own.model,
      temp: settings.temp ?? own.temp,
      creditLimit: null,
    },
    source: PLAYGROUND,
    channel: asked.channel ?? 'api',
    transient: true,
    mocks: mocksOf(asked),
    idempotency: null,
  }
}

const mocksOf = ({ results = {} }: CaseOfRun): Record<string, ToolOutput> =>
  Object.fromEntries(Object.entries(results).map(([name, data]) => [name, { status: 'success', data }]))

async function hasEscalated(
  { db }: Pick<TurnNeeds, 'db'>,
  { accountId, agentId }: AgentRef,
  calls: Result['calls'],
) {
  const names = calls.map(({ name }) => name)
  if (names.length === 0) return false
  const row = await db
    .selectFrom('actions')
    .select('id')
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
    .where('type', '=', 'escalate')
    .where('name', 'in', names)
    .executeTakeFirst()
  return row !== undefined
}

/** Returns why there is no answer, for members. What they cannot mend is for the log. */
function reasonOf({ log }: Pick<TurnNeeds, 'log'>, failure: unknown): string {
  const cause = failure instanceof ApiError && failure.cause ? failure.cause : failure
  if (cause instanceof ModelFailure) return whatHappened(cause)
  if (failure instanceof ApiError || failure instanceof UnreadableMove) return failure.message
  log.error({ err: failure }, 'a test of an answer failed')
  return 'The service failed; its log says why.'
}

/** null if one of them is not known. */
const sum = (values: readonly (number | null)[]): number | null =>
  values.length === 0 || values.includes(null)
    ? null
    : values.reduce<number>((total, value) => total + (value ?? 0), 0)
