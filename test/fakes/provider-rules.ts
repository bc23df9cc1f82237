import type { ModelRequest } from './reply.ts'

/**
 * Returns the words with which a provider refuses a request that breaks one of the rules in its documentation, beyond
 * what the types of its package say; null if it keeps them.
 */
export function brokenRule({ wire, body }: Pick<ModelRequest, 'wire' | 'body'>): string | null {
  switch (wire) {
    case 'chat':
      return chatRule(body)
    case 'responses':
      return responsesRule(body)
    case 'anthropic':
      return anthropicRule(body)
    case 'google':
      return googleRule(body)
    default:
      return null
  }
}

// biome-ignore lint/suspicious/noExplicitAny: request bodies of any protocol
type Any = any

const IS_OPENAI_REASONING = /^(?:o\d|gpt-[5-9])/

/** https://platform.openai.com/docs/guides/reasoning, and https://api-docs.deepseek.com/guides/thinking_mode */
function chatRule({ model, messages, ...body }: Any): string | null {
  if (IS_OPENAI_REASONING.test(model)) {
    if (body.max_tokens !== undefined)
      return "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    if (body.temperature !== undefined && body.temperature !== 1 && body.reasoning_effort !== 'none')
      return "Unsupported value: 'temperature' does not support this value with this model."
  }
  const isThinking = /^deepseek-reasoner/.test(model)
  const last = messages.findLastIndex(({ role }: Any) => role === 'user')
  const loop = messages.slice(last + 1).filter(({ role }: Any) => role === 'assistant')
  if (isThinking && loop.some((said: Any) => said.tool_calls && !said.reasoning_content))
    return 'The reasoning_content in the thinking mode must be passed back to the API.'
  return callsAnswered(
    messages.flatMap(({ tool_calls = [] }: Any) => tool_calls.map(({ id }: Any) => id)),
    messages.filter(({ role }: Any) => role === 'tool').map(({ tool_call_id }: Any) => tool_call_id),
  )
}

/** https://platform.openai.com/docs/guides/reasoning#keeping-reasoning-items-in-context */
function responsesRule({ model, input, ...body }: Any): string | null {
  if (IS_OPENAI_REASONING.test(model) && body.temperature !== undefined && body.reasoning?.effort !== 'none')
    return "Unsupported parameter: 'temperature' is not supported with this model."
  for (const [at, item] of input.entries()) {
    if (item.type === 'reasoning' && !item.encrypted_content)
      return `Item '${item.id}' of type 'reasoning' was not found, because store is false.`
    const next = input[at + 1]
    if (
      item.type === 'reasoning' &&
      !['function_call', 'message', 'reasoning'].includes(next?.type ?? 'message')
    )
      return `Item '${item.id}' of type 'reasoning' was provided without its required following item.`
  }
  return callsAnswered(
    input.filter(({ type }: Any) => type === 'function_call').map(({ call_id }: Any) => call_id),
    input.filter(({ type }: Any) => type === 'function_call_output').map(({ call_id }: Any) => call_id),
  )
}

/** https://platform.claude.com/docs/en/build-with-claude/extended-thinking and adaptive-thinking */
function anthropicRule({ model, messages, thinking, ...body }: Any): string | null {
  const isOn = ['enabled', 'adaptive', 'between_tools'].includes(thinking?.type)
  const isAlwaysOn = /^claude-(?:opus|fable)-5-/.test(model)
  if (isAlwaysOn && thinking?.type === 'disabled')
    return '"thinking.type.disabled" is not supported for this model.'
  if (thinking?.type === 'enabled' && /^claude-[a-z]+-5/.test(model))
    return '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive".'
  if (thinking?.budget_tokens >= body.max_tokens)
    return '`max_tokens` must be greater than `thinking.budget_tokens`.'
  if ((isOn || isAlwaysOn) && body.temperature !== undefined && body.temperature !== 1)
    return '`temperature` may only be set to 1 when thinking is enabled.'
  if (isOn && ['any', 'tool'].includes(body.tool_choice?.type))
    return 'Thinking may not be enabled when tool_choice forces tool use.'
  const last = messages.findLastIndex(({ role, content }: Any) => role === 'user' && !isToolResult(content))
  for (const { role, content } of messages.slice(last + 1)) {
    if (role !== 'assistant' || !Array.isArray(content)) continue
    const thoughts = content.filter(({ type }: Any) => type === 'thinking')
    if (thoughts.some(({ signature }: Any) => signature !== 'signed'))
      return 'Invalid `signature` in `thinking` block.'
    if (isOn && content.some(({ type }: Any) => type === 'tool_use') && content[0]?.type !== 'thinking')
      return 'Expected `thinking`, but found `tool_use`. A final `assistant` message must start with a thinking block.'
  }
  const blocks = messages.flatMap(({ content }: Any) => (Array.isArray(content) ? content : []))
  return callsAnswered(
    blocks.filter(({ type }: Any) => type === 'tool_use').map(({ id }: Any) => id),
    blocks.filter(({ type }: Any) => type === 'tool_result').map(({ tool_use_id }: Any) => tool_use_id),
  )
}

const isToolResult = (content: Any): boolean =>
  Array.isArray(content) && content.some(({ type }: Any) => type === 'tool_result')

/** https://ai.google.dev/gemini-api/docs/thought-signatures */
function googleRule({ contents, generationConfig }: Any): string | null {
  const { thinkingLevel, thinkingBudget } = generationConfig?.thinkingConfig ?? {}
  if (thinkingLevel !== undefined && thinkingBudget !== undefined)
    return 'You can only set one of thinking budget and thinking level.'
  const last = contents.findLastIndex(
    ({ role, parts }: Any) => role === 'user' && parts.some(({ text }: Any) => text !== undefined),
  )
  for (const { parts } of contents.slice(last + 1)) {
    const [call] = parts.filter(({ functionCall }: Any) => functionCall)
    if (call && call.thoughtSignature === undefined) return 'Function call is missing a thought_signature.'
  }
  return null
}

/** Every provider refuses a history with a call that nothing answers. */
function callsAnswered(calls: string[], answers: string[]): string | null {
  const open = calls.find((id) => !answers.includes(id))
  return open === undefined ? null : `No tool output found for the call ${open}.`
}
