import {
  GEN_AI,
  newSpanId,
  newTraceId,
  OPERATIONS,
  PROVIDERS,
  type Span,
  type TraceExporter,
} from '../../platform/trace-exporter.ts'
import type { ModelEntry } from '../catalogue/catalogue.ts'
import type { EmbeddingCall } from '../embeddings/embedding-use.ts'
import { ModelFailure } from '../failures/model-failure.ts'
import type { SideCall } from './call-model.ts'
import type { Part } from './model-call.ts'

export const errorType = (error: unknown): string =>
  error instanceof ModelFailure ? (error.answer ? String(error.answer.status) : error.kind) : '_OTHER'

export const attributesOfModel = ({ provider, name }: ModelEntry): Span['attributes'] => ({
  [GEN_AI.provider]: PROVIDERS[provider],
  [GEN_AI.requestModel]: name,
})

/** Returns what a part tells of its call, without its content. */
export function attributesOfPart(part: Part): Span['attributes'] {
  if (part.type === 'response-metadata')
    return { [GEN_AI.responseId]: part.id, [GEN_AI.responseModel]: part.modelId }
  if (part.type !== 'finish') return {}
  const { inputTokens, outputTokens } = part.usage
  return {
    [GEN_AI.finishReasons]: [part.finishReason.unified],
    [GEN_AI.inputTokens]: inputTokens.total,
    [GEN_AI.cachedTokens]: inputTokens.cacheRead,
    [GEN_AI.outputTokens]: outputTokens.total,
    [GEN_AI.reasoningTokens]: outputTokens.reasoning,
  }
}

/** A turn is a trace. Its ids follow from that of the generation, whose last digits are random. */
export function traceOf(generationId: string): { traceId: string; root: string } {
  const traceId = generationId.replaceAll('-', '')
  return { traceId, root: traceId.slice(-16) }
}

/** Records a call beside an answer, in the trace of its turn if there is one. */
export function traceSideCall(
  traces: TraceExporter | null,
  { asker, model, told, error, startedAt }: SideCall,
): void {
  record(traces, {
    name: `${OPERATIONS.chat} ${model.name}`,
    startedAt,
    error,
    generationId: asker.generationId,
    attributes: {
      ...attributesOfModel(model),
      [GEN_AI.operation]: OPERATIONS.chat,
      [GEN_AI.agentId]: asker.agentId,
      [GEN_AI.conversationId]: asker.conversationId,
      [GEN_AI.stream]: true,
      [GEN_AI.purpose]: asker.purpose,
      ...Object.assign({}, ...told.map(attributesOfPart)),
    },
  })
}

/** Records a request to an embedding model. */
export function traceEmbedding(
  traces: TraceExporter | null,
  { owner, model, isLocal, tokens, error, startedAt }: EmbeddingCall,
): void {
  record(traces, {
    name: `${OPERATIONS.embeddings} ${model}`,
    startedAt,
    error,
    attributes: {
      [GEN_AI.operation]: OPERATIONS.embeddings,
      // A model in a folder runs in a process of the service, for which the conventions have no name.
      [GEN_AI.provider]: isLocal ? 'local' : PROVIDERS['openai-compatible'],
      [GEN_AI.requestModel]: model,
      [GEN_AI.agentId]: owner?.agentId,
      [GEN_AI.inputTokens]: tokens,
    },
  })
}

type Ended = Pick<Span, 'name' | 'startedAt' | 'attributes'> & {
  error: unknown
  generationId?: string | undefined
}

function record(
  traces: TraceExporter | null,
  { name, startedAt, attributes, error, generationId }: Ended,
): void {
  const turn = generationId === undefined ? null : traceOf(generationId)
  traces?.record({
    traceId: turn?.traceId ?? newTraceId(),
    spanId: newSpanId(),
    ...(turn ? { parentSpanId: turn.root } : {}),
    name,
    kind: 'client',
    startedAt,
    endedAt: Date.now(),
    attributes: { ...attributes, [GEN_AI.errorType]: error === null ? null : errorType(error) },
    hasFailed: error !== null,
  })
}
