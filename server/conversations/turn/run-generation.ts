import type { JSONValue, LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider'
import type { Tool } from '../../actions/tools/tool.ts'
import { onBehalfOf } from '../../db/connections/lanes.ts'
import type { LiveGeneration } from '../stream/live-generation.ts'
import { createCitations } from './citations.ts'
import { endGeneration } from './end-generation.ts'
import type { Deps, Job, Told } from './generation-job.ts'
import { toolResult } from './history.ts'
import { type CallResult, runCalls } from './run-calls.ts'
import { type Step, speakStep } from './speak-step.ts'

/** The most model calls in one turn. */
export const MOST_STEPS = 8

/** Ending a failed generation counts as this many events. */
const FAILURE = 32
/** The most events of an answer that are held in memory until they are in the log. */
const MOST_UNSAVED = 1_024

/**
 * Generates and stores the reply, with or without readers. Never throws: an error before the first event fails the
 * generation; a later one ends the stream with `error` and `finish`, and what was said is kept.
 */
export const runGeneration = (deps: Deps, job: Job, live: LiveGeneration): Promise<void> =>
  onBehalfOf(job.owner.accountId, () => run(deps, job, live))

async function run(deps: Deps, job: Job, live: LiveGeneration): Promise<void> {
  const told: Told = {
    found: { passages: [], confidence: 0 },
    finishReason: 'error',
    outcome: null,
    citations: createCitations([], job.citedBefore),
    waiting: [],
    failure: null,
  }
  try {
    const leave = await deps.generations.answering.enter(job.owner.accountId, live.signal, job.atOnce)
    await speak(deps, job, live, told).finally(leave)
  } catch (error) {
    if (live.abortReason === null) {
      told.failure = { cause: error }
      return endFailed(deps, job, live, told)
    }
  }
  await endGeneration(deps, job, live, told)
}

/**
 * Ends a failed generation. When a provider fails, thousands may fail at once, so they are ended a few at a time and
 * accounts take turns.
 */
async function endFailed(deps: Deps, job: Job, live: LiveGeneration, told: Told): Promise<void> {
  const leave = await deps.generations.failing.enter(job.owner.accountId)
  try {
    await deps.generations.turns.take(job.owner.accountId, FAILURE)
    deps.log.warn(
      { err: told.failure?.cause, generation: live.ids.id, model: job.model.id },
      'generation failed',
    )
    await endGeneration(deps, job, live, told)
  } finally {
    leave()
  }
}

/** Runs the steps of a turn: calls the model, runs its tool calls, and calls it again with their outputs. */
async function speak(deps: Deps, job: Job, live: LiveGeneration, told: Told): Promise<void> {
  const { found, toolkit, prompt } = await job.prepare(live.signal)
  told.found = found
  told.citations = createCitations(found.passages, job.citedBefore)
  const tools = new Map(toolkit.tools.map((tool) => [tool.name, tool]))
  const messages: LanguageModelV4Message[] = [...prompt]
  const surroundings = { process: deps.process, pace: paceOf(deps, job, live) }
  for (let number = 1; ; number++) {
    live.signal.throwIfAborted()
    if (number > 1 && live.count > 0) live.emit({ type: 'start-step' })
    const options = { prompt: messages, ...toolOptions(tools, messages, number === MOST_STEPS) }
    const step = await speakStep(surroundings, job.answer(options, found, live.signal), {
      tools,
      live,
      citations: told.citations,
    })
    // Only calls that wait for the application end the turn with `tool-calls`; some servers report this reason
    // without a call.
    told.outcome = step.outcome
    told.finishReason = step.finishReason === 'tool-calls' ? 'stop' : step.finishReason
    if (step.calls.length === 0) return
    const waiting = step.calls.filter(({ tool, problem }) => problem === null && tool?.run === null)
    const here = step.calls.filter((call) => !waiting.includes(call))
    const results = here.length > 0 ? await runCalls(deps, job.owner, live, here) : []
    if (results === null) {
      live.abort('stop')
      return
    }
    if (waiting.length > 0) {
      live.signal.throwIfAborted()
      told.waiting = waiting
      told.finishReason = 'tool-calls'
      return
    }
    if (number === MOST_STEPS) {
      told.finishReason = 'other'
      return
    }
    messages.push(...spoken(step, results))
    if (live.count > 0) live.emit({ type: 'finish-step' })
  }
}

/**
 * Returns a function that delays a model that is faster than the log or takes too much of the process from other
 * generations.
 */
function paceOf({ generations }: Deps, { owner }: Job, live: LiveGeneration) {
  return (events: number): Promise<void> | undefined => {
    const turn = generations.turns.take(owner.accountId, events)
    return live.unsaved.length < MOST_UNSAVED ? turn : generations.saved(live).then(() => turn)
  }
}

function spoken({ content }: Step, results: CallResult[]): LanguageModelV4Message[] {
  const answers = results.map(({ call, output }) => toolResult(call.id, call.name, output as JSONValue))
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
  isLast: boolean,
): ToolOptions {
  const declared = [...tools.values()].map(({ name, description, inputSchema }) => ({
    type: 'function' as const,
    name,
    description,
    inputSchema,
  }))
  if (declared.length > 0) {
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
