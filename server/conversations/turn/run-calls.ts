import type { Logger } from 'pino'
import type { ToolOutput } from '../../actions/tools/tool.ts'
import type { Context } from '../../context.ts'
import type { Call } from '../records/tool-calls.ts'
import { beginCalls, endCall, type Owner } from '../records/tool-calls.ts'
import type { LiveGeneration } from '../stream/live-generation.ts'

const SIDE_BY_SIDE = 4

type Needs = Pick<Context, 'db' | 'log' | 'generations' | 'process'>

export type CallResult = { call: Call; output: ToolOutput }

/**
 * Runs the calls of a step that run here, a few at a time, and records each before and after. Returns their outputs
 * in the order of the calls, or null when the generation has been ended elsewhere, in which case nothing ran.
 */
export async function runCalls(
  ctx: Needs,
  owner: Owner,
  live: LiveGeneration,
  calls: Call[],
): Promise<CallResult[] | null> {
  // The calls may have effects elsewhere, so they must be in the log before they run, in case another process has to
  // close this generation.
  await ctx.generations.saved(live)
  if (!(await beginCalls(ctx.db, owner, ctx.process, live, calls))) return null
  const results: CallResult[] = []
  for (let from = 0; from < calls.length; from += SIDE_BY_SIDE) {
    const group = calls.slice(from, from + SIDE_BY_SIDE)
    results.push(...(await Promise.all(group.map((call) => runAndRecord(ctx, owner, live, call)))))
  }
  return results
}

async function runAndRecord(
  { db, log }: Needs,
  owner: Owner,
  live: LiveGeneration,
  call: Call,
): Promise<CallResult> {
  const output = await runOne(log, owner, live, call)
  if (call.tool?.type === 'procedure') return { call, output }
  // The action has happened, whether this is recorded or not, so the model and the reader are told in any case.
  await endCall(db, owner, call, output).catch((error: unknown) =>
    log.error({ err: error, action: call.name }, 'the end of an action could not be recorded'),
  )
  const result = { toolCallId: call.id, output, providerExecuted: true as const }
  live.parts.push({ type: 'tool-result', toolName: call.name, ...result })
  live.emit({ type: 'tool-output-available', ...result })
  return { call, output }
}

async function runOne(log: Logger, owner: Owner, live: LiveGeneration, call: Call): Promise<ToolOutput> {
  if (call.problem !== null || !call.tool?.run) {
    return { status: 'error', error: call.problem ?? 'The action cannot be run.' }
  }
  const { conversationId, userId } = live.ids
  const place = { ...owner, conversationId, userId, toolCallId: call.id, signal: live.signal }
  try {
    return await call.tool.run(call.input, place)
  } catch (error) {
    log.error({ err: error, action: call.name }, 'an action failed')
    return { status: 'error', error: 'The action failed.' }
  }
}
