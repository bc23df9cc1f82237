import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { attributesOfModel, attributesOfPart, errorType, traceOf } from '../../ai/calls/trace-call.ts'
import {
  GEN_AI,
  newSpanId,
  OPERATIONS,
  type Span,
  type TraceExporter,
} from '../../platform/trace-exporter.ts'
import type { Call } from '../records/parts.ts'
import type { LiveGeneration } from '../stream/reading.ts'
import type { StepsResult, Turn, TurnTraces } from '../turn/turn.ts'

/** Records turns as traces, in the conventions of OpenTelemetry. */
export const createTurnTraces = (traces: TraceExporter): TurnTraces => ({
  turn: (...ended) => traceTurn(traces, ...ended),
  call: (...call) => tracedCall(traces, ...call),
  tool: (...ended) => traceTool(traces, ...ended),
})

/** Records a turn that has ended as the invocation of its agent. */
function traceTurn(
  traces: TraceExporter,
  turn: Turn,
  live: LiveGeneration,
  { finishReason, failure }: StepsResult,
  startedAt: number,
): void {
  if (turn.model.entry.provider === 'builtin') return
  const { traceId, root } = traceOf(live.ids.id)
  const { agent } = turn.request
  traces.record({
    traceId,
    spanId: root,
    name: `${OPERATIONS.agent} ${agent.name}`,
    kind: 'internal',
    startedAt,
    endedAt: Date.now(),
    attributes: {
      [GEN_AI.operation]: OPERATIONS.agent,
      ...attributesOfModel(turn.model.entry),
      [GEN_AI.agentId]: agent.id,
      [GEN_AI.agentName]: agent.name,
      [GEN_AI.conversationId]: live.ids.conversationId,
      [GEN_AI.finishReasons]: [finishReason],
      [GEN_AI.errorType]: failure ? errorType(failure.cause) : null,
    },
    hasFailed: failure !== null,
  })
}

type Parts = AsyncIterable<LanguageModelV4StreamPart[]>
type Options = { maxOutputTokens?: number | undefined }

/** Yields the parts of a call of a model, and records it when it ends. */
async function* tracedCall(
  traces: TraceExporter,
  { model, request }: Turn,
  live: LiveGeneration,
  { maxOutputTokens = model.entry.maxOutputTokens }: Options,
  parts: Parts,
): Parts {
  const startedAt = Date.now()
  const attributes: Span['attributes'] = {
    [GEN_AI.operation]: OPERATIONS.chat,
    ...attributesOfModel(model.entry),
    [GEN_AI.conversationId]: live.ids.conversationId,
    [GEN_AI.maxTokens]: maxOutputTokens,
    [GEN_AI.temperature]: request.agent.temp,
    [GEN_AI.stream]: true,
  }
  let hasFailed = false
  try {
    for await (const batch of parts) {
      attributes[GEN_AI.firstChunk] ??= (Date.now() - startedAt) / 1_000
      for (const part of batch) Object.assign(attributes, attributesOfPart(part))
      yield batch
    }
  } catch (error) {
    hasFailed = true
    attributes[GEN_AI.errorType] = errorType(error)
    throw error
  } finally {
    const { traceId, root } = traceOf(live.ids.id)
    traces.record({
      traceId,
      spanId: newSpanId(),
      parentSpanId: root,
      name: `${OPERATIONS.chat} ${model.entry.name}`,
      kind: 'client',
      startedAt,
      endedAt: Date.now(),
      attributes,
      hasFailed,
    })
  }
}

/** Records a call of a tool that ran here. */
function traceTool(
  traces: TraceExporter,
  live: LiveGeneration,
  { id, name }: Call,
  { startedAt, hasFailed }: { startedAt: number; hasFailed: boolean },
): void {
  const { traceId, root } = traceOf(live.ids.id)
  traces.record({
    traceId,
    spanId: newSpanId(),
    parentSpanId: root,
    name: `${OPERATIONS.tool} ${name}`,
    kind: 'internal',
    startedAt,
    endedAt: Date.now(),
    attributes: {
      [GEN_AI.operation]: OPERATIONS.tool,
      [GEN_AI.toolName]: name,
      [GEN_AI.toolType]: 'function',
      [GEN_AI.toolCallId]: id,
      [GEN_AI.conversationId]: live.ids.conversationId,
      [GEN_AI.errorType]: hasFailed ? '_OTHER' : null,
    },
    hasFailed,
  })
}
