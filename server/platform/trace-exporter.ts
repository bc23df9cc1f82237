import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { VERSION } from './version.ts'

type Value = string | number | boolean | readonly string[]

export type Span = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: 'internal' | 'client'
  /** In milliseconds since 1970. */
  startedAt: number
  endedAt: number
  /** Those that are undefined or null are left out. */
  attributes: Record<string, Value | null | undefined>
  hasFailed: boolean
}

/** Sends spans to a collector. It never throws and nobody waits for it. */
export type TraceExporter = { record(span: Span): void; close(): Promise<void> }

export type OtlpSettings = { endpoint: string; headers: Record<string, string>; serviceName: string }

const EVERY_MS = 5_000
const TIMEOUT_MS = 10_000
const BATCH = 512
/** The most spans that wait for a collector. Later ones are dropped. */
const MAX_WAITING = 4_096
const WARN_EVERY_MS = 60_000
const MAX_CLOSING_MS = 2_000

export const newSpanId = (): string => randomBytes(8).toString('hex')
export const newTraceId = (): string => randomBytes(16).toString('hex')

/** Sends OTLP as JSON over HTTP, a batch every few seconds. What a collector does not take is dropped. */
export function createTraceExporter(
  { endpoint, headers, serviceName }: OtlpSettings,
  log: { warn(about: object, message: string): void },
): TraceExporter {
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`
  let waiting: Span[] = []
  let dropped = 0
  let warnedAt = -Infinity
  let sending: Promise<void> | null = null

  const warn = (err: unknown): void => {
    if (performance.now() - warnedAt < WARN_EVERY_MS) return
    warnedAt = performance.now()
    log.warn({ err, dropped }, 'spans could not be sent to the collector of OTEL_EXPORTER_OTLP_ENDPOINT')
  }
  const send = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH)
      try {
        const response = await fetch(url, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(exportRequest(batch, serviceName)),
          redirect: 'error',
          signal: AbortSignal.timeout(TIMEOUT_MS),
        })
        await response.body?.cancel()
        if (!response.ok) throw new Error(`The collector answered ${response.status}.`)
      } catch (error) {
        dropped += batch.length
        warn(error)
        return
      }
    }
  }
  const flush = (): Promise<void> => {
    sending ??= send().finally(() => {
      sending = null
    })
    return sending
  }
  const timer = setInterval(() => void flush(), EVERY_MS).unref()
  return {
    record(span) {
      if (waiting.length < MAX_WAITING) waiting.push(span)
      else dropped++
      if (waiting.length === BATCH) void flush()
    },
    async close() {
      clearInterval(timer)
      // The process does not wait for a collector that hangs.
      await Promise.race([Promise.resolve(sending).then(flush), wait(MAX_CLOSING_MS, null, { ref: false })])
      waiting = []
    },
  }
}

/** Returns an ExportTraceServiceRequest in the JSON format of OTLP. */
const exportRequest = (spans: readonly Span[], serviceName: string) => ({
  resourceSpans: [
    {
      resource: {
        attributes: attributesOf({ 'service.name': serviceName, 'service.version': VERSION }),
      },
      scopeSpans: [
        { scope: { name: 'parley', version: VERSION }, spans: spans.map(spanOf), schemaUrl: SCHEMA_URL },
      ],
      schemaUrl: SCHEMA_URL,
    },
  ],
})

const KINDS = { internal: 1, client: 3 } as const
const ERROR = 2

const spanOf = ({ traceId, spanId, parentSpanId, name, kind, attributes, hasFailed, ...times }: Span) => ({
  traceId,
  spanId,
  ...(parentSpanId === undefined ? {} : { parentSpanId }),
  name,
  kind: KINDS[kind],
  startTimeUnixNano: nanoseconds(times.startedAt),
  endTimeUnixNano: nanoseconds(Math.max(times.startedAt, times.endedAt)),
  attributes: attributesOf(attributes),
  status: hasFailed ? { code: ERROR } : {},
})

const nanoseconds = (milliseconds: number): string => `${Math.round(milliseconds)}000000`

const attributesOf = (attributes: Span['attributes']) =>
  Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined || value === null ? [] : [{ key, value: anyValue(value) }],
  )

function anyValue(value: Value): object {
  if (typeof value === 'string') return { stringValue: value.toWellFormed() }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number')
    return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  return { arrayValue: { values: value.map((one) => anyValue(one)) } }
}

/**
 * The names of OpenTelemetry's semantic conventions for generative AI. They are in development, so their version is pinned
 * here alone. Of what the conventions leave to those who want it, the content of messages is never sent.
 */
const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.41.0'

export const GEN_AI = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  agentId: 'gen_ai.agent.id',
  agentName: 'gen_ai.agent.name',
  conversationId: 'gen_ai.conversation.id',
  requestModel: 'gen_ai.request.model',
  maxTokens: 'gen_ai.request.max_tokens',
  temperature: 'gen_ai.request.temperature',
  stream: 'gen_ai.request.stream',
  responseId: 'gen_ai.response.id',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  firstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  cachedTokens: 'gen_ai.usage.cache_read.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  toolName: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  toolCallId: 'gen_ai.tool.call.id',
  errorType: 'error.type',
  /** An attribute of our own: what a model was asked for beside answers. */
  purpose: 'parley.purpose',
} as const

export const OPERATIONS = {
  chat: 'chat',
  agent: 'invoke_agent',
  tool: 'execute_tool',
  embeddings: 'embeddings',
} as const

/** The name of a provider in the conventions: that of the format in which it is asked. */
export const PROVIDERS: Record<string, string> = {
  openai: 'openai',
  'openai-responses': 'openai',
  'openai-compatible': 'openai',
  anthropic: 'anthropic',
  google: 'gcp.gemini',
}
