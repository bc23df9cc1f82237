import type { Static } from 'typebox'
import { planOf } from '../../../accounts/plans/plans.ts'
import { accountOf } from '../../../accounts/records/accounts.ts'
import type { ToolOutput } from '../../../actions/tools/tool.ts'
import { requireAgent } from '../../../agents/records/find-agent.ts'
import { ModelFailure, whatHappened } from '../../../ai/failures/model-failure.ts'
import type { Context } from '../../../context.ts'
import type { AgentRef } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import { storableJson } from '../../../platform/http/bodies/storable.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import type { RateWindow } from '../../../platform/http/limits/rate-limit.ts'
import type { Task } from '../../../platform/jobs/jobs.ts'
import { type AnswerRecord, recordAnswer } from '../../explanations/record-answer.ts'
import { textOf } from '../../records/parts.ts'
import { PLAYGROUND, type TranscriptMessage } from '../../records/queries.ts'
import type { ChatAnswer } from '../../records/schema.ts'
import { whileWatching } from '../../stream/send-stream.ts'
import { startChat } from '../../turn/start.ts'
import { type ChatRequest, chatAgentOf, type TurnNeeds } from '../../turn/turn.ts'
import { checkAnswer, judgeAnswer } from './check-answer.ts'
import { caseOfRun, endRun, enqueueTest, findRun, RUN_ANSWER_TESTS, type RunAnswerTests } from './runs.ts'
import type { CaseOfRun, Result, RunSettings } from './schema.ts'

/** The most answers an hour that an account with a limit of credits may test for nothing. */
const ANSWERS: RateWindow = { limit: 300, windowMs: 3_600_000 }

type Needs = TurnNeeds & Pick<Context, 'jobs' | 'limiter'>

/**
 * Runs the next test of a run. Each test is a job that enqueues the next one together with its result, so that runs take
 * turns, and go on where their process was when it ended.
 */
export const runAnswerTests = (ctx: Needs): Task<RunAnswerTests> => ({
  name: RUN_ANSWER_TESTS,
  concurrency: 2,
  share: 1,
  retries: 8,
  async run(test, { isLast, signal }) {
    try {
      await runNext(ctx, test, signal)
    } catch (error) {
      // Nobody would end it, and the agent could not be tested any more.
      if (!signal.aborted && isLast(error)) await endRun(ctx.db, test, test.runId, 'stopped')
      throw error
    }
  },
})

async function runNext(ctx: Needs, test: RunAnswerTests, signal: AbortSignal): Promise<void> {
  const { runId, done, ...ref } = test
  const { db, jobs } = ctx
  const run = await findRun(db, ref, runId)
  // The job has run before, and its successor goes on.
  if (run?.status !== 'running' || run.done !== done) return
  const { settings, credits } = run
  const asked = await caseOfRun(db, ref, runId, done % settings.cases)
  if (!asked || done >= settings.cases * settings.repeats) return endRun(db, ref, runId, 'finished')
  const expected = asked.messages.length * settings.creditsOfAnswer
  if (settings.maxCredits !== undefined && credits + expected > settings.maxCredits)
    return endRun(db, ref, runId, 'stopped')
  const waitSeconds = await secondsUntilRoom(ctx, ref, asked)
  if (waitSeconds > 0) return transact(db, (trx) => enqueueTest(trx, jobs, test, waitSeconds))
  const repetition = Math.floor(done / settings.cases) + 1
  const result = await runCase(ctx, ref, settings, asked, repetition, signal)
  await transact(db, async (trx) => {
    const stored = await trx
      .insertInto('answer_results')
      .values({
        run_id: runId,
        place: done % settings.cases,
        repetition,
        account_id: ref.accountId,
        result: json(storableJson(result)),
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning('run_id')
      .executeTakeFirst()
    if (stored) await enqueueTest(trx, jobs, { ...test, done: done + 1 })
  })
}

/** Tests are free, so those of an account whose plan limits its credits have a limit of their own. */
async function secondsUntilRoom(
  { db, limiter }: Pick<Needs, 'db' | 'limiter'>,
  { accountId }: AgentRef,
  { messages }: CaseOfRun,
): Promise<number> {
  const { plan } = await accountOf(db, accountId)
  if (planOf(plan).creditsPerMonth === null) return 0
  for (const _ of messages) {
    const { allowed, resetAt } = await limiter.take(`answer tests of ${accountId}`, ANSWERS)
    if (!allowed) return Math.max(1, Math.ceil((resetAt - Date.now()) / 1_000))
  }
  return 0
}

async function runCase(
  ctx: TurnNeeds,
  ref: AgentRef,
  settings: RunSettings,
  asked: CaseOfRun,
  repetition: number,
  signal: AbortSignal,
): Promise<Result> {
  const begun = performance.now()
  const history: TranscriptMessage[] = []
  const calls: Result['calls'] = []
  let answer: Static<typeof ChatAnswer>['data'] | null = null
  let made: AnswerRecord | null = null
  const steps: AnswerRecord['run']['steps'] = []
  let credits = 0
  let error: string | null = null
  for (const text of asked.messages) {
    signal.throwIfAborted()
    const trial = recordAnswer({ channel: asked.channel ?? 'api', temp: settings.temp ?? 0 }, 'always')
    history.push(messageOf('user', [{ type: 'text', text }]))
    try {
      const request = await requestOf(ctx, ref, settings, asked)
      const reading = await startChat(ctx, {
        ...request,
        ask: { kind: 'message', text },
        history: history.slice(0, -1),
        trial,
      })
      answer = await whileWatching(reading, reading.answer)
    } catch (failure) {
      if (failure instanceof ApiError && failure.code === 'SERVICE_OVERLOADED') throw failure
      answer = null
      error = reasonOf(failure)
    }
    const record = trial.made()
    made = record ?? made
    steps.push(...trial.steps)
    credits += record?.run.credits ?? 0
    if (!answer) break
    history.push(messageOf('assistant', answer.parts as TranscriptMessage['parts']))
    for (const part of answer.parts)
      if (part.type === 'tool-call') calls.push({ name: part.toolName, input: part.input })
  }
  const answered = {
    messages: history.map((said) => ({ role: said.role as 'user' | 'assistant', text: textOf(said) })),
    calls,
    sources: (answer?.metadata.sources ?? []).map(({ id, name }) => ({ id, name })),
    outcome: answer?.metadata.outcome ?? null,
    isHandedOver: await isHandedOver(ctx, ref, calls),
  }
  const judge = settings.judges ? ctx.models.resolve('auto') : null
  const model = judge && judge.entry.provider !== 'builtin' ? ctx.models.small(judge) : null
  const passages = made?.run.passages.map((passage) => passage.text) ?? []
  const checks = answer
    ? [
        ...checkAnswer(asked, answered),
        ...(await judgeAnswer({ model, log: ctx.log }, asked, answered, passages, signal)),
      ]
    : []
  const { isHandedOver: _, ...shown } = answered
  return {
    caseId: asked.id,
    name: asked.name,
    repetition,
    passed: answer !== null && checks.every(({ passed }) => passed === true),
    checks,
    ...shown,
    model: steps.at(-1)?.model ?? null,
    credits,
    inputTokens: sum(steps.map((step) => step.inputTokens)),
    outputTokens: sum(steps.map((step) => step.outputTokens)),
    dollars: sum(steps.map((step) => step.dollars ?? null)),
    firstMs: made?.run.steps[0]?.firstMs ?? null,
    ms: Math.round(performance.now() - begun),
    error,
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
  const own = chatAgentOf(row)
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

async function isHandedOver(
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

const messageOf = (role: 'user' | 'assistant', parts: TranscriptMessage['parts']): TranscriptMessage => ({
  role,
  parts,
})

function reasonOf(failure: unknown): string {
  if (failure instanceof ApiError && failure.cause instanceof ModelFailure) return whatHappened(failure.cause)
  return failure instanceof Error ? failure.message : String(failure)
}

/** null if one of them is not known. */
const sum = (values: readonly (number | null)[]): number | null =>
  values.length === 0 || values.includes(null)
    ? null
    : values.reduce<number>((total, value) => total + (value ?? 0), 0)
