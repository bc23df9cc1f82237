import type { Reply } from './reply.ts'

/** The protocol in which a provider writes an answer, as the events of a stream in order. */
export type Wire = {
  opening(): string[]
  reasoning(text: string): string[]
  token(text: string): string[]
  toolCall(call: NonNullable<Reply['toolCalls']>[number], index: number): string[]
  closing(reply: Reply): string[]
}

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
const named = (type: string, value: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...value })}\n\n`
const halves = (text: string): string[] => [text.slice(0, text.length >> 1), text.slice(text.length >> 1)]

const DEFAULT: NonNullable<Reply['usage']> = [7, 5]

const usageOf = ({ usage: [prompt_tokens, completion_tokens] = DEFAULT, cached }: Reply) => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
  ...(cached === undefined ? {} : { prompt_tokens_details: { cached_tokens: cached } }),
})

const responsesUsage = ({ usage: [input_tokens, output_tokens] = DEFAULT, cached }: Reply) => ({
  input_tokens,
  output_tokens,
  ...(cached === undefined ? {} : { input_tokens_details: { cached_tokens: cached } }),
})

/** Anthropic counts what came from the cache apart. */
const anthropicUsage = ({ usage: [read, output_tokens] = DEFAULT, cached = 0 }: Reply) => ({
  input_tokens: read - cached,
  output_tokens,
  ...(cached === 0 ? {} : { cache_read_input_tokens: cached }),
})

const googleUsage = ({ usage: [promptTokenCount, candidatesTokenCount] = DEFAULT, cached }: Reply) => ({
  promptTokenCount,
  candidatesTokenCount,
  totalTokenCount: promptTokenCount + candidatesTokenCount,
  ...(cached === undefined ? {} : { cachedContentTokenCount: cached }),
})

/** OpenAI chat completions. */
export function chatWire(): Wire {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    data({
      id: 'c1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'fake',
      choices: [{ index: 0, delta, finish_reason }],
    })
  return {
    opening: () => [chunk({ role: 'assistant', content: '' })],
    reasoning: (reasoning_content) => [chunk({ reasoning_content })],
    token: (content) => [chunk({ content })],
    toolCall: ({ id, name, input }, index) => [
      chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
      ...halves(JSON.stringify(input)).map((part) =>
        chunk({ tool_calls: [{ index, function: { arguments: part } }] }),
      ),
    ],
    closing: (reply) => [
      ...(reply.withoutFinish
        ? []
        : [chunk({}, reply.finishReason ?? (reply.toolCalls ? 'tool_calls' : 'stop'))]),
      data({
        id: 'c1',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'fake',
        choices: [],
        usage: usageOf(reply),
      }),
      'data: [DONE]\n\n',
    ],
  }
}

/** OpenAI responses. */
export function responsesWire(): Wire {
  let output = 0
  let textOpen = false
  let text = ''
  const closeText = (): string[] => {
    if (!textOpen) return []
    textOpen = false
    const item = {
      type: 'message',
      id: 'm1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text, annotations: [] }],
    }
    return [
      named('response.output_text.done', { item_id: 'm1', output_index: 0, content_index: 0, text }),
      named('response.output_item.done', { output_index: output++, item }),
    ]
  }
  return {
    opening: () => [
      named('response.created', { response: { id: 'r1', created_at: 1, model: 'fake', service_tier: null } }),
    ],
    reasoning(delta) {
      const output_index = output++
      const item = { type: 'reasoning', id: 'rs1', encrypted_content: 'sealed', summary: [] as object[] }
      const place = { item_id: 'rs1', output_index, summary_index: 0 }
      const part = { type: 'summary_text', text: delta }
      return [
        named('response.output_item.added', { output_index, item }),
        named('response.reasoning_summary_part.added', { ...place, part: { ...part, text: '' } }),
        named('response.reasoning_summary_text.delta', { ...place, delta }),
        named('response.reasoning_summary_part.done', { ...place, part }),
        named('response.output_item.done', { output_index, item: { ...item, summary: [part] } }),
      ]
    },
    token(delta) {
      const opening = textOpen
        ? []
        : [
            named('response.output_item.added', {
              output_index: output,
              item: { type: 'message', id: 'm1', role: 'assistant', status: 'in_progress', content: [] },
            }),
          ]
      textOpen = true
      text += delta
      return [
        ...opening,
        named('response.output_text.delta', { item_id: 'm1', output_index: output, content_index: 0, delta }),
      ]
    },
    toolCall({ id, name, input }) {
      const before = closeText()
      const output_index = output++
      const item = {
        type: 'function_call',
        id: `f_${id}`,
        call_id: id,
        name,
        arguments: JSON.stringify(input),
        status: 'completed',
      }
      return [
        ...before,
        named('response.output_item.added', {
          output_index,
          item: { ...item, arguments: '', status: 'in_progress' },
        }),
        ...halves(item.arguments).map((delta) =>
          named('response.function_call_arguments.delta', { item_id: item.id, output_index, delta }),
        ),
        named('response.function_call_arguments.done', {
          item_id: item.id,
          output_index,
          arguments: item.arguments,
        }),
        named('response.output_item.done', { output_index, item }),
      ]
    },
    closing: (reply) => [
      ...closeText(),
      ...(reply.withoutFinish
        ? []
        : [
            named(reply.finishReason ? 'response.incomplete' : 'response.completed', {
              response: {
                id: 'r1',
                incomplete_details: reply.finishReason ? { reason: reply.finishReason } : null,
                usage: responsesUsage(reply),
                service_tier: null,
              },
            }),
          ]),
    ],
  }
}

/** Anthropic messages. */
export function anthropicWire(): Wire {
  let index = -1
  let textOpen = false
  const closeText = (): string[] => {
    if (!textOpen) return []
    textOpen = false
    return [named('content_block_stop', { index })]
  }
  return {
    opening: () => [
      named('message_start', {
        message: {
          id: 'a1',
          type: 'message',
          role: 'assistant',
          model: 'fake',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 7, output_tokens: 0 },
        },
      }),
    ],
    reasoning: (thinking) => [
      named('content_block_start', {
        index: ++index,
        content_block: { type: 'thinking', thinking: '', signature: '' },
      }),
      named('content_block_delta', { index, delta: { type: 'thinking_delta', thinking } }),
      named('content_block_delta', { index, delta: { type: 'signature_delta', signature: 'signed' } }),
      named('content_block_stop', { index }),
    ],
    token(text) {
      const opening = textOpen
        ? []
        : [named('content_block_start', { index: ++index, content_block: { type: 'text', text: '' } })]
      textOpen = true
      return [...opening, named('content_block_delta', { index, delta: { type: 'text_delta', text } })]
    },
    toolCall({ id, name, input }) {
      const before = closeText()
      index++
      return [
        ...before,
        named('content_block_start', { index, content_block: { type: 'tool_use', id, name, input: {} } }),
        ...halves(JSON.stringify(input)).map((partial_json) =>
          named('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json } }),
        ),
        named('content_block_stop', { index }),
      ]
    },
    closing: (reply) => [
      ...closeText(),
      ...(reply.withoutFinish
        ? []
        : [
            named('message_delta', {
              delta: {
                stop_reason: reply.finishReason ?? (reply.toolCalls ? 'tool_use' : 'end_turn'),
                stop_sequence: null,
              },
              usage: anthropicUsage(reply),
            }),
            named('message_stop', {}),
          ]),
    ],
  }
}

/** Google generateContent. */
export function googleWire(): Wire {
  const piece = (parts: object[], finishReason?: string, reply: Reply = {}) =>
    data({
      candidates: [
        { content: { role: 'model', parts }, ...(finishReason ? { finishReason } : {}), index: 0 },
      ],
      usageMetadata: googleUsage(reply),
    })
  return {
    opening: () => [],
    reasoning: (text) => [piece([{ text, thought: true }])],
    token: (text) => [piece([{ text }])],
    toolCall: ({ name, input }) => [
      piece([{ functionCall: { name, args: input }, thoughtSignature: 'sealed' }]),
    ],
    closing: (reply) =>
      reply.withoutFinish ? [] : [piece([{ text: '' }], reply.finishReason ?? 'STOP', reply)],
  }
}
