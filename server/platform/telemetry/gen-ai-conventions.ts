/**
 * The names of OpenTelemetry's semantic conventions for generative AI. They are in development, so their version is pinned
 * here alone. Of what the conventions leave to those who want it, the content of messages is never sent.
 */
export const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.41.0'

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
} as const

export const OPERATIONS = { chat: 'chat', agent: 'invoke_agent', tool: 'execute_tool' } as const

/** The name of a provider in the conventions: that of the format in which it is asked. */
export const PROVIDERS: Record<string, string> = {
  openai: 'openai',
  'openai-responses': 'openai',
  'openai-compatible': 'openai',
  anthropic: 'anthropic',
  google: 'gcp.gemini',
}
