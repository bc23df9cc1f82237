import type {
  JSONValue,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider'
import type { Logger } from 'pino'
import type { Tool, Toolkit } from '../actions/tool.ts'
import type { Db } from '../db/database.ts'
import { ApiError } from '../http/errors.ts'
import type { Passage } from '../knowledge/retrieval/passage.ts'
import { endGeneration } from './end-generation.ts'
import type { FinishReason } from './events.ts'
import { toolResult } from './history.ts'
import type { LiveGeneration } from './live-generation.ts'
import { type CallResult, runCalls } from './run-calls.ts'
import { type Call, type Step, speakStep } from './speak-step.ts'
import type { Owner } from './tool-calls.ts'

/** Calls of the model in one turn, at most. */
export const MOST_STEPS = 8

export type Found = { passages: Passage[]; confidence: number }

export type Job = {
  owner: Owner
  model: { id: string; provider: string }
  /** Finds what the reply stands on. */
  prepare(signal: AbortSignal): Promise<{ found: Found; toolkit: Toolkit; prompt: LanguageModelV4Prompt }>
  /** Calls the model. Throws ModelFailure. */
  answer(
    options: Pick<LanguageModelV4CallOptions, 'prompt' | 'tools' | 'toolChoice'>,
    found: Found,
    signal: AbortSignal,
  ): AsyncIterable<LanguageModelV4StreamPart>
}

/** What has been said when the steps are over, or broke off. */
export type Told = {
  found: Found
  finishReason: FinishReason
  cited: number[] | null
  /** Calls that the application has to run. */
  waiting: Call[]
  failed: boolean
}

export type Deps = { db: Db; log: Logger }

/**
 * Makes the reply and stores it, whoever listens. Never throws: what goes wrong before the first event fails
 * the generation, later it ends the stream with `error` and `finish` and keeps what was said.
 */
export async function runGeneration(deps: Deps, job: Job, live: LiveGeneration): Promise<void> {
  const told: Told = {
    found: { passages: [], confidence: 0 },
    finishReason: 'error',
    cited: null,
    waiting: [],
    failed: false,
  }
  try {
    await speak(deps, job, live, told)
  } catch (error) {
    told.failed = live.abortReason === null
    if (told.failed) {
      deps.log.warn({ err: error, generation: live.ids.id, model: job.model.id }, 'generation failed')
    }
  }
  if (live.abortReason === 'shutdown') {
    leave(live)
    return
  }
  await endGeneration(deps, job, live, told)
}

/** The steps of a turn: the model speaks, its calls run, and it speaks again with their outputs. */
async function speak(deps: Deps, job: Job, live: LiveGeneration, told: Told): Promise<void> {
  const { found, toolkit, prompt } = await job.prepare(live.signal)
  told.found = found
  const tools = new Map(toolkit.tools.map((tool) => [tool.name, tool]))
  const messages: LanguageModelV4Message[] = [...prompt]
  for (let number = 1; ; number++) {
    live.signal.throwIfAborted()
    if (number > 1 && live.frames.length > 0) live.emit({ type: 'start-step' })
    const options = { prompt: messages, ...toolOptions(tools, messages, number === MOST_STEPS) }
    const step = await speakStep(job.answer(options, found, live.signal), tools, live)
    told.cited = step.cited ?? told.cited
    told.finishReason = step.finishReason
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
    if (live.frames.length > 0) live.emit({ type: 'finish-step' })
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
 * The last step has to end in words. Providers refuse calls in a history when no tools are declared: calls of
 * actions that are gone are declared, and may not be made.
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

/** The process ends: whoever closes the generation after its lease keeps the checkpoint. */
function leave(live: LiveGeneration): void {
  if (live.frames.length > 0) live.emit({ type: 'data-reattach', data: { afterMs: 1_000 }, transient: true })
  live.fail(
    new ApiError('SERVICE_OVERLOADED', {
      message: 'The service is being restarted. What was said so far is kept in the conversation.',
      headers: { 'retry-after': '2' },
    }),
  )
}
