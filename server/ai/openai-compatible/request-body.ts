import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4ToolResultOutput,
} from '@ai-sdk/provider'
import type { CallOptions } from '../calls/model-call.ts'
import type { LengthField } from '../catalogue/catalogue.ts'

/** The name under which a part's options hold what the server wants back with a call. */
export const PROVIDER_OPTIONS = 'openaiCompatible'

/** Builds the body of a chat completion request from the call options. */
export function requestBody(
  { name: model, lengthField }: { name: string; lengthField: LengthField },
  options: CallOptions,
): Record<string, unknown> {
  const tools = (options.tools ?? []).filter((tool) => tool.type === 'function')
  return {
    model,
    messages: options.prompt.flatMap(messagesOf),
    stream: true,
    stream_options: { include_usage: true },
    temperature: options.temperature,
    [lengthField]: options.maxOutputTokens,
    ...reasoningSettings(options.reasoning),
    ...responseFormat(options.responseFormat),
    stop: options.stopSequences,
    ...(tools.length > 0
      ? {
          tools: tools.map(({ name, description, inputSchema }) => ({
            type: 'function',
            function: { name, description, parameters: inputSchema },
          })),
          tool_choice: toolChoice(options.toolChoice),
        }
      : {}),
  }
}

/**
 * Servers of open models turn the reasoning off by a setting of the model's template, gateways by `none`. A server that
 * refuses either by its name is asked without it.
 */
function reasoningSettings(reasoning: CallOptions['reasoning']): Record<string, unknown> {
  if (reasoning === undefined || reasoning === 'provider-default') return {}
  const isOff = reasoning === 'none'
  return {
    reasoning_effort: reasoning,
    ...(isOff ? { chat_template_kwargs: { enable_thinking: false } } : {}),
  }
}

function responseFormat(format: CallOptions['responseFormat']): Record<string, unknown> {
  if (format?.type !== 'json') return {}
  const { schema, name = 'response' } = format
  if (!schema) return { response_format: { type: 'json_object' } }
  return { response_format: { type: 'json_schema', json_schema: { name, strict: true, schema } } }
}

function messagesOf(message: LanguageModelV4Message): Record<string, unknown>[] {
  switch (message.role) {
    case 'system':
      return [{ role: 'system', content: message.content }]
    case 'user':
      return [{ role: 'user', content: contentOf(message.content) }]
    case 'assistant': {
      const calls = message.content.filter((part) => part.type === 'tool-call')
      const text = textOf(message.content)
      return [
        {
          role: 'assistant',
          content: text === '' && calls.length > 0 ? null : text,
          ...reasoningOf(message.content),
          ...(calls.length > 0
            ? {
                tool_calls: calls.map(({ toolCallId, toolName, input, providerOptions }) => ({
                  id: toolCallId,
                  type: 'function',
                  function: { name: toolName, arguments: JSON.stringify(input) },
                  ...providerOptions?.[PROVIDER_OPTIONS],
                })),
              }
            : {}),
        },
      ]
    }
    case 'tool':
      return message.content
        .filter((part) => part.type === 'tool-result')
        .map(({ toolCallId, output }) => ({
          role: 'tool',
          tool_call_id: toolCallId,
          content: outputText(output),
        }))
  }
}

/** Servers of models that see take a list; others may know texts alone. */
function contentOf(content: Extract<LanguageModelV4Message, { role: 'user' }>['content']): unknown {
  if (content.every(({ type }) => type === 'text')) return textOf(content)
  return content.flatMap((part): object[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }]
    if (part.data.type !== 'data') return []
    const base64 = Buffer.from(part.data.data as Uint8Array).toString('base64')
    return [{ type: 'image_url', image_url: { url: `data:${part.mediaType};base64,${base64}` } }]
  })
}

/** DeepSeek refuses a call that it has reasoned about without that reasoning. */
function reasoningOf(content: Extract<LanguageModelV4Message, { role: 'assistant' }>['content']): {
  reasoning_content?: string
} {
  const parts = content.filter(
    (part) =>
      part.type === 'reasoning' && part.providerOptions?.[PROVIDER_OPTIONS]?.field === 'reasoning_content',
  )
  const text = parts.map((part) => (part.type === 'reasoning' ? part.text : '')).join('')
  return text === '' ? {} : { reasoning_content: text }
}

function textOf(content: readonly { type: string; text?: string }[]): string {
  return content.map(({ type, text }) => (type === 'text' ? text : '')).join('')
}

function outputText(output: LanguageModelV4ToolResultOutput): string {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value
    case 'execution-denied':
      return output.reason ?? 'The call was not executed.'
    default:
      return JSON.stringify(output.value)
  }
}

function toolChoice(choice: LanguageModelV4CallOptions['toolChoice']): unknown {
  if (choice?.type === 'tool') return { type: 'function', function: { name: choice.toolName } }
  return choice?.type
}
