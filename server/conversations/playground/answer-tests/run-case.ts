import type { Static } from 'typebox'
import { accountOf } from '../../../accounts/records/accounts.ts'
import type { ToolOutput } from '../../../actions/tools/tool.ts'
import { requireAgent } from '../../../agents/records/find-agent.ts'
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
import { checkAnswer, judgeAnswer } from './check-answer.ts'
import type { CaseOfRun, Check, Result, RunSettings } from './schema.ts'

/** A conversation with the agent, and what its answers were made of. */
type Talk = {
  messages: TranscriptMessage[]
  calls: Result['calls']
  /** The last answer; null if there is none. */
  answer: Static<typeof ChatAnswer>['data'] | null
  made: AnswerRecord | null
  steps: AnswerRecord['run']['steps']
  credits: number
  error: string | null
}

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
  const { answer, calls, made, steps } = talk
  const answered = {
    messages: talk.messages.map((said) => ({ role: said.role, text: textOf(said) })),
    calls,
    sources: (answer?.metadata.sources ?? []).map(({ id, name }) => ({ id, name })),
    outcome: answer?.metadata.outcome ?? null,
  }
  const isHandedOver = await hasEscalated(ctx, ref, calls)
  const checks = answer
    ? await checksOf(ctx, settings, asked, talk, { ...answered, isHandedOver }, signal)
    : []
  return {
    caseId: asked.id,
    name: asked.name,
    repetition,
    passed: answer !== null && checks.every(({ passed }) => passed === true),
    checks,
    ...answered,
    model: steps.at(-1)?.model ?? null,
    credits: talk.credits,
    inputTokens: sum(steps.map((step) => step.inputTokens)),
    outputTokens: sum(steps.map((step) => step.outputTokens)),
    dollars: sum(steps.map((step) => step.dollars ?? null)),
    firstMs: made?.run.steps[0]?.firstMs ?? null,
    ms: Math.round(performance.now() - begun),
    error: talk.error,
  }
}

/** Asks the messages of a case one after the other, until an answer fails. */
async function converse(
  ctx: TurnNeeds,
  ref: AgentRef,
  settings: RunSettings,
  asked: CaseOfRun,
  signal: AbortSignal,
): Promise<Talk> {
  const talk: Talk = { messages: [], calls: [], answer: null, made: null, steps: [], credits: 0, error: null }
  for (const text of asked.messages) {
    signal.throwIfAborted()
    await ask(ctx, ref, settings, asked, talk, text)
    if (!talk.answer) break
  }
  return talk
}

/** Adds a customer's message and its answer to the conversation; no answer, and the reason, if that fails. */
async function ask(
  ctx: TurnNeeds,
  ref: AgentRef,
  settings: RunSettings,
  asked: CaseOfRun,
  talk: Talk,
  text: string,
): Promise<void> {
  const trial = recordAnswer({ channel: asked.channel ?? 'api', temp: settings.temp ?? 0 }, 'always')
  const history = [...talk.messages]
  talk.messages.push({ role: 'user', parts: [{ type: 'text', text }] })
  talk.answer = null
  try {
    const request = await requestOf(ctx, ref, settings, asked)
    const reading = await startChat(ctx, { ...request, ask: { kind: 'message', text }, history, trial })
    talk.answer = await whileWatching(reading, reading.answer)
  } catch (failure) {
    if (failure instanceof ApiError && failure.code === 'SERVICE_OVERLOADED') throw failure
    talk.error = reasonOf(failure)
  }
  const record = trial.made()
  talk.made = record ?? talk.made
  talk.steps.push(...trial.steps)
  talk.credits += record?.run.credits ?? 0
  if (!talk.answer) return
  talk.messages.push({ role: 'assistant', parts: talk.answer.parts as TranscriptMessage['parts'] })
  for (const part of talk.answer.parts)
    if (part.type === 'tool-call') talk.calls.push({ name: part.toolName, input: part.input })
}

type Answered = Parameters<typeof checkAnswer>[1]

/** Checks in code first, and then with a model what only that can tell. */
async function checksOf(
  ctx: TurnNeeds,
  settings: RunSettings,
  asked: CaseOfRun,
  { made }: Talk,
  answered: Answered,
  signal: AbortSignal,
): Promise<Check[]> {
  const judge = settings.judges ? ctx.models.resolve('auto') : null
  const model = judge && judge.entry.provider !== 'builtin' ? ctx.models.small(judge) : null
  const passages = made?.run.passages.map((passage) => passage.text) ?? []
  const judged = await judgeAnswer({ model, log: ctx.log }, asked, answered, passages, signal)
  return [...checkAnswer(asked, answered), ...judged]
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

function reasonOf(failure: unknown): string {
  if (failure instanceof ApiError && failure.cause instanceof ModelFailure) return whatHappened(failure.cause)
  return failure instanceof Error ? failure.message : String(failure)
}

/** null if one of them is not known. */
const sum = (values: readonly (number | null)[]): number | null =>
  values.length === 0 || values.includes(null)
    ? null
    : values.reduce<number>((total, value) => total + (value ?? 0), 0)
