import type { JSONValue, LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider'
import type { Logger } from 'pino'
import { planOf } from '../../accounts/plans/plans.ts'
import type { Tool, ToolOutput } from '../../actions/tools/tool.ts'
import { Citations } from '../../knowledge/search/answering/citations.ts'
import { withTenant } from '../../platform/db/connections/lanes.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import { countUses } from '../explanations/record-answer.ts'
import { toolResult, withoutOwnNames } from '../prompt/build-prompt.ts'
import { topicRules } from '../prompt/outcome-report.ts'
import { prepare, prepareFixed, unseenSentence } from '../prompt/prepare.ts'
import { beginCalls, type Call, endCall, hasWords, textOf } from '../records/parts.ts'
import { metadataOf, type Replay } from '../records/present.ts'
import type { TranscriptMessage } from '../records/queries.ts'
import type { LiveGeneration } from '../stream/reading.ts'
import { askModel, type Talk, takeOver } from './ask-model.ts'
import { askForGrounds, finishTurn, sendFirstEvents, ungroundedOf, ungroundedRule } from './finish.ts'
import { rulesIn, type Step, SystemTextGuard, speakStep } from './speak-step.ts'
import type { Prepared, Running, StepsResult, Turn, TurnNeeds } from './turn.ts'

/** The most model calls in one turn. */
export const MAX_STEPS = 8

/** After an action, a model may take its result for the answer, but the customer does not see it. */
const ASK_FOR_WORDS: LanguageModelV4Message = {
  role: 'user',
  content: [
    {
      type: 'text',
      text: '(The customer sees nothing of these results. Tell them in a sentence or two, in their language, what was done or found.)',
    },
  ],
}

/**
 * Generates and stores the reply, whether or not it has readers. Never throws: an error before the first event fails
 * the generation; a later one ends the stream with `error` and `finish`, and the text so far is kept. Resolves to
 * whether it failed.
 */
export const runTurn = (ctx: TurnNeeds, turn: Turn, live: LiveGeneration): Promise<boolean> =>
  withTenant(turn.owner.accountId, () => run({ ctx, turn, live }))

async function run(running: Running): Promise<boolean> {
  const { ctx, turn, live } = running
  const startedAt = Date.now()
  // The most answers of the account that may be generated at once.
  const atOnce = planOf(turn.request.account.plan).answersAtOnce
  const result: StepsResult = {
    score: null,
    finishReason: 'error',
    outcome: null,
    topic: null,
    given: () => '',
    escalate: null,
    mayOffer: false,
    isUnseen: false,
    offer: null,
    isIndexing: false,
    citations: new Citations([], turn.started.citedBefore),
    waiting: [],
    language: 'en',
    replay: metadataOf(turn.started.transcript.at(-1)).replay ?? {},
    reasoning: metadataOf(turn.started.transcript.at(-1)).reasoning ?? '',
    hasPending: false,
    failure: null,
  }
  try {
    const leave = await ctx.generations.answering.enter(turn.owner.accountId, live.signal, atOnce)
    await speak(running, result).finally(leave)
  } catch (error) {
    if (live.abortReason === null) {
      result.failure = { cause: error }
      ctx.log.warn({ err: error, generation: live.ids.id, model: turn.model.entry.id }, 'generation failed')
    }
  }
  await finishTurn(running, result)
  ctx.traces?.turn(turn, live, result, startedAt)
  const purpose = turn.request.trial ? 'playground' : 'answer'
  await countUses(ctx, turn.owner, purpose, turn.record?.uses ?? [])
  return result.failure !== null
}

/** Runs the steps, and ends the answer with what the customer has to know of pictures that nobody has seen. */
async function speak(running: Running, result: StepsResult): Promise<void> {
  const { ctx, turn, live } = running
  const prepared = (await prepareFixed(ctx, turn, live)) ?? (await prepare(ctx, turn, live.signal))
  await runSteps(running, prepared, result)
  const images = prepared.imagesFor(turn.model.entry)
  result.isUnseen = result.waiting.length === 0 && images.unseen > 0
  if (!result.isUnseen || live.abortReason !== null) return
  const sentence = unseenSentence(result.language, images, result.escalate !== null)
  sayOurselves(live, hasWords(live) ? `\n\n${sentence}` : sentence)
}

/** Adds a sentence of the service to the answer. */
function sayOurselves(live: LiveGeneration, text: string): void {
  sendFirstEvents(live)
  live.parts.push({ type: 'text', text })
  const id = `text-${live.parts.length}`
  live.emit({ type: 'text-start', id })
  live.emit({ type: 'text-delta', id, delta: text })
  live.emit({ type: 'text-end', id })
}

/** Runs the steps of a turn: calls the model, runs its tool calls, and calls it again with their outputs. */
async function runSteps(running: Running, prepared: Prepared, result: StepsResult): Promise<void> {
  const { ctx, turn, live } = running
  const { found, toolkit } = prepared
  result.score = prepared.score
  result.escalate = prepared.escalate
  result.mayOffer = prepared.said.mayOffer
  result.language = prepared.said.language
  result.isIndexing = found.isIndexing && !found.isFound
  result.citations = new Citations(found.passages, turn.started.citedBefore)
  const tools = new Map(toolkit.tools.map((tool) => [tool.name, tool]))
  const talk: Talk = { prompt: prepared.promptFor(turn.model.entry), since: [] }
  result.given = () => givenText([...talk.prompt, ...talk.since], turn.started.transcript)
  const surroundings = { process: ctx.process, pace: paceOf(running) }
  const say: Say = (what, options, citations) =>
    speakStep(surroundings, askModel(running, prepared, what, options), {
      tools,
      live,
      citations,
      guard: guardOf(turn, prepared, what),
    })
  let empty: Step | null = null
  for (let number = 1; ; number++) {
    live.signal.throwIfAborted()
    if (number > 1 && live.count > 0) live.emit({ type: 'start-step' })
    const options = {
      ...(empty ? repeatOptions(turn, empty) : {}),
      ...toolOptions(tools, [...talk.prompt, ...talk.since], {
        isLast: number === MAX_STEPS || talk.since.at(-1) === ASK_FOR_WORDS,
        mustCall: number === 1 ? prepared.mustCall : null,
      }),
    }
    const step = await say(talk, options, result.citations)
    // Only calls that wait for the application end the turn with `tool-calls`; some servers report this reason
    // without a call.
    result.outcome = step.outcome
    result.topic = step.topic
    result.offer = step.offer
    result.finishReason = step.finishReason === 'tool-calls' ? 'stop' : step.finishReason
    result.reasoning = [result.reasoning, thoughtOf(step)].filter(Boolean).join('\n\n')
    if (step.calls.length === 0) {
      if (hasWords(live)) return groundAnswer(running, { prepared, talk, tools, result, step, say })
      // A model that returned no words usually returns some when it is asked again; if not, another one may.
      if (empty && !(await mayAskAnother(running, prepared, talk, step))) return
      empty = empty ? null : step
      result.citations = new Citations(found.passages, turn.started.citedBefore)
      if (talk.since.at(-1)?.role === 'tool') talk.since.push(ASK_FOR_WORDS)
      if (live.count > 0) live.emit({ type: 'finish-step' })
      number -= 1
      continue
    }
    Object.assign(result.replay, replayOf(step))
    const waiting = step.calls.filter(({ tool, problem }) => problem === null && tool?.run === null)
    const here = step.calls.filter((call) => !waiting.includes(call))
    const results = here.length > 0 ? await runCalls(running, here, result) : []
    if (results === null) return
    if (waiting.length > 0) {
      live.signal.throwIfAborted()
      result.waiting = waiting
      result.finishReason = 'tool-calls'
      return
    }
    if (number === MAX_STEPS) {
      result.finishReason = 'other'
      return
    }
    talk.since.push(...spoken(step, results, prepared.cacheKey))
    if (live.count > 0) live.emit({ type: 'finish-step' })
  }
}

/** Lets the model say one step. */
type Say = (talk: Talk, options: Parameters<typeof askModel>[3], citations: Citations) => Promise<Step>

type Said = {
  prepared: Prepared
  talk: Talk
  tools: ReadonlyMap<string, Tool>
  result: StepsResult
  step: Step
  say: Say
}

/**
 * Asks once more for an answer with values that its model was not given, if the owner wants it. The first answer remains
 * unless the second is one, with fewer of them.
 */
async function groundAnswer(
  { ctx, turn, live }: Running,
  { prepared, talk, tools, result, step, say }: Said,
): Promise<void> {
  // The markers of an earlier step would refer to the sources of an answer that is gone.
  const from = live.parts.findLastIndex(({ type }) => type !== 'text') + 1
  if (ungroundedRule(turn) !== 'ask_again' || hasWords({ parts: live.parts.slice(0, from) })) return
  const values = ungroundedOf(turn, live.parts, result)
  if (values.length === 0) return
  const first = live.parts.splice(from)
  const citations = new Citations(prepared.found.passages, turn.started.citedBefore)
  const again: Talk = {
    prompt: talk.prompt,
    since: [...talk.since, { role: 'assistant', content: step.content }, askForGrounds(values)],
  }
  live.emit({ type: 'finish-step' })
  live.emit({ type: 'start-step' })
  try {
    const options = toolOptions(tools, [...again.prompt, ...again.since], { isLast: true, mustCall: null })
    const second = await say(again, options, citations)
    const isBetter =
      second.calls.length === 0 &&
      second.finishReason === 'stop' &&
      hasWords({ parts: live.parts.slice(from) }) &&
      ungroundedOf(turn, live.parts, result).length < values.length
    if (isBetter) {
      const { outcome, topic, offer } = second
      Object.assign(result, { citations, outcome, topic, offer })
      return
    }
  } catch (error) {
    live.signal.throwIfAborted()
    ctx.log.warn({ err: error, generation: live.ids.id }, 'an answer was not written once more')
  }
  live.parts.splice(from, live.parts.length, ...first)
}

const guardOf = (turn: Turn, prepared: Prepared, { prompt }: Talk): SystemTextGuard =>
  new SystemTextGuard(rulesIn(prompt, ownersTexts(turn, prepared)))

/** What the owner tells the model, which is no secret of the service. */
const ownersTexts = ({ request: { agent } }: Turn, { toolkit, escalate }: Prepared): (string | null)[] => [
  agent.instructions,
  toolkit.procedures,
  topicRules(agent.guardrails.forbiddenTopics, escalate),
  ...Object.values(agent.channelInstructions ?? {}).flatMap((own) =>
    typeof own === 'string' ? [own] : Object.values(own ?? {}),
  ),
]

/**
 * Returns the options for asking again after an answer without words. One that ended in the reasoning gets more room, and
 * is asked with as little reasoning as the model can.
 */
const repeatOptions = (
  { model: { entry } }: Turn,
  { finishReason }: Step,
): Pick<LanguageModelV4CallOptions, 'reasoning' | 'maxOutputTokens'> =>
  finishReason === 'length' ? { reasoning: 'none', maxOutputTokens: 2 * entry.maxOutputTokens } : {}

/** Lets another model answer, unless the provider refused because of the content. */
const mayAskAnother = async (
  running: Running,
  prepared: Prepared,
  talk: Talk,
  { finishReason }: Step,
): Promise<boolean> =>
  finishReason !== 'content-filter' &&
  (await takeOver(running, prepared, talk, new Error('the answer has no words')))

/** Earlier answers count as given unless something of them was marked. */
function givenText(
  prompt: readonly LanguageModelV4Message[],
  transcript: readonly TranscriptMessage[],
): string {
  const read = prompt
    .filter(({ role }) => role !== 'assistant')
    .map(({ content }) => (typeof content === 'string' ? content : content.map(readText).join('\n')))
  const said = transcript.filter((one) => one.role === 'assistant' && !metadataOf(one).ungrounded)
  return withoutOwnNames([...read, ...said.map(textOf)].join('\n'))
}

/** Numbers in the bytes of a picture are none. */
const readText = (part: { type: string; text?: string }): string =>
  part.type === 'text' ? (part.text ?? '') : part.type === 'file' ? '' : JSON.stringify(part)

const thoughtOf = ({ content }: Step): string =>
  content
    .map((part) => (part.type === 'reasoning' ? part.text.trim() : ''))
    .filter(Boolean)
    .join('\n\n')

/** Returns what has to be sent back to the provider with the calls of a step, by their ids. */
function replayOf({ calls, content }: Step): Record<string, Replay> {
  const reasoning = content.filter((part) => part.type === 'reasoning')
  const entries = content
    .filter((part) => part.type === 'tool-call')
    .map(({ toolCallId, providerOptions }, at): [string, Replay] => [
      toolCallId,
      {
        ...(providerOptions ? { options: providerOptions } : {}),
        ...(at === 0 && reasoning.some((part) => part.providerOptions) ? { reasoning } : {}),
      },
    ])
  const isStored = (id: string): boolean =>
    calls.some((call) => call.id === id && call.tool?.type !== 'procedure')
  return Object.fromEntries(entries.filter(([id, kept]) => isStored(id) && Object.keys(kept).length > 0))
}

/**
 * Returns a function that delays a model that is faster than the log or takes too much of the process from other
 * generations.
 */
function paceOf({ ctx: { generations }, turn: { owner }, live }: Running) {
  return (events: number): Promise<void> | undefined => {
    const turn = generations.turns.take(owner.accountId, events)
    return generations.room(live)?.then(() => turn) ?? turn
  }
}

function spoken({ content }: Step, results: CallResult[], key: string): LanguageModelV4Message[] {
  const answers = results.map(({ call, output }) => toolResult(call, output as JSONValue, key))
  return [
    { role: 'assistant', content },
    { role: 'tool', content: answers },
  ]
}

type ToolOptions = Pick<LanguageModelV4CallOptions, 'tools' | 'toolChoice'>

/**
 * Returns the tools for a step. The last step must not call any, so that it ends in words. Providers refuse calls in
 * a history when no tools are declared, so actions that no longer exist are declared but may not be called.
 */
function toolOptions(
  tools: ReadonlyMap<string, Tool>,
  messages: LanguageModelV4Message[],
  { isLast, mustCall }: { isLast: boolean; mustCall: string | null },
): ToolOptions {
  const declared = [...tools.values()].map(({ name, description, inputSchema }) => ({
    type: 'function' as const,
    name,
    description,
    inputSchema,
  }))
  if (declared.length > 0) {
    if (mustCall !== null) return { tools: declared, toolChoice: { type: 'tool', toolName: mustCall } }
    return { tools: declared, toolChoice: isLast ? { type: 'none' } : { type: 'auto' } }
  }
  const gone = new Set(
    messages.flatMap(({ role, content }) =>
      role === 'assistant'
        ? content.flatMap((part) => (part.type === 'tool-call' ? [part.toolName] : []))
        : [],
    ),
  )
  if (gone.size === 0) return {}
  const inputSchema = { type: 'object' as const }
  return {
    tools: [...gone].map((name) => ({
      type: 'function',
      name,
      description: 'Not available any more.',
      inputSchema,
    })),
    toolChoice: { type: 'none' },
  }
}

const SIDE_BY_SIDE = 4

type CallResult = { call: Call; output: ToolOutput }

/**
 * Runs the calls of a step that run here, a few at a time, and records each before and after. Returns their outputs
 * in the order of the calls, or null when the generation has to end, in which case nothing ran and it is aborted.
 */
async function runCalls(running: Running, calls: Call[], result: StepsResult): Promise<CallResult[] | null> {
  const { ctx, turn, live } = running
  // The calls may have effects elsewhere, so they must be in the log before they run, in case another process has to
  // close this generation.
  await ctx.generations.saved(live)
  const refused = await beginCalls(ctx.db, turn.owner, ctx.process, live, calls).catch((error: unknown) => {
    result.hasPending = true
    throw error
  })
  if (refused !== null) {
    live.abort(refused)
    return null
  }
  const results: CallResult[] = []
  for (let from = 0; from < calls.length; from += SIDE_BY_SIDE) {
    const group = calls.slice(from, from + SIDE_BY_SIDE)
    results.push(...(await Promise.all(group.map((call) => runAndRecord(running, call, result)))))
  }
  return results
}

async function runAndRecord(
  { ctx: { db, log, traces }, turn: { owner }, live }: Running,
  call: Call,
  result: StepsResult,
): Promise<CallResult> {
  const startedAt = Date.now()
  const output = await runOne(log, owner, live, call)
  traces?.tool(live, call, { startedAt, hasFailed: output.status === 'error' })
  if (call.tool?.type === 'procedure') return { call, output }
  // The action has happened, whether this is recorded or not, so the model and the reader are told in any case.
  await endCall(db, owner, call, output).catch((error: unknown) => {
    result.hasPending = true
    log.error({ err: error, action: call.name }, 'the end of an action could not be recorded yet')
  })
  const ended = { toolCallId: call.id, output, providerExecuted: true as const }
  live.parts.push({ type: 'tool-result', toolName: call.name, ...ended })
  live.emit({ type: 'tool-output-available', ...ended })
  return { call, output }
}

async function runOne(log: Logger, ref: AgentRef, live: LiveGeneration, call: Call): Promise<ToolOutput> {
  if (call.problem !== null || !call.tool?.run) {
    return { status: 'error', error: call.problem ?? 'The action cannot be run.' }
  }
  // An earlier call of the same step may have run for minutes.
  if (live.signal.aborted)
    return { status: 'error', error: 'The action was not run: the answer was stopped.' }
  const { conversationId, userId } = live.ids
  const place = { ...ref, conversationId, userId, toolCallId: call.id, signal: live.signal }
  try {
    return await call.tool.run(call.input, place)
  } catch (error) {
    log.error({ err: error, action: call.name }, 'an action failed')
    return { status: 'error', error: 'The action failed.' }
  }
}
