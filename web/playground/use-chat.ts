import { useEffect, useRef, useState } from 'react'
import { type Cited, parley } from '../app/api.ts'
import { sentenceOf } from '../ui/state.tsx'

export type ToolCall = { id: string; name: string; input?: unknown; output?: unknown }
export type Said = {
  id: string
  role: 'user' | 'assistant'
  text: string
  sources: Cited[]
  tools: ToolCall[]
  credits?: number
  /** Milliseconds from the question to the first word; `wholeMs` is the time to the end of the answer. */
  firstMs?: number
  wholeMs?: number
  finishReason?: string
  problem?: string
  /** The service's id of the message, known once the answer has begun. */
  messageId?: string
}

const said = (role: Said['role'], text: string): Said => ({
  id: crypto.getRandomValues(new Uint32Array(2)).join('-'),
  role,
  text,
  sources: [],
  tools: [],
})

/** Holds a conversation with an agent and streams its answers from the API. */
export function useChat(agentId: string) {
  const [messages, setMessages] = useState<Said[]>([])
  const [isRunning, setIsRunning] = useState(false)
  const conversation = useRef<string | undefined>(undefined)
  const abort = useRef<AbortController | null>(null)
  useEffect(() => () => abort.current?.abort(), [])

  async function ask(question: string): Promise<void> {
    const answer = said('assistant', '')
    const change = (part: Partial<Said> | ((now: Said) => Partial<Said>)) =>
      setMessages((all) =>
        all.map((one) =>
          one.id === answer.id ? { ...one, ...(typeof part === 'function' ? part(one) : part) } : one,
        ),
      )
    setMessages((all) => [...all, said('user', question), answer])
    setIsRunning(true)
    abort.current = new AbortController()
    const { signal } = abort.current
    const startedAt = performance.now()
    const since = () => Math.round(performance.now() - startedAt)
    try {
      const body = { message: question, conversationId: conversation.current }
      for await (const { event } of await parley.chat(agentId, body, { signal })) {
        if (event.type === 'start') change({ messageId: event.messageId })
        else if (event.type === 'message-metadata') {
          conversation.current = event.messageMetadata.conversationId
        } else if (event.type === 'text-delta') {
          change((now) => ({ text: now.text + event.delta, firstMs: now.firstMs ?? since() }))
        } else if (event.type === 'tool-input-available') {
          const { toolCallId: id, toolName: name, input } = event
          change((now) => ({ tools: [...now.tools, { id, name, input }] }))
        } else if (event.type === 'tool-output-available') {
          change((now) => ({
            tools: now.tools.map((tool) =>
              tool.id === event.toolCallId ? { ...tool, output: event.output } : tool,
            ),
          }))
        } else if (event.type === 'data-sources') {
          change({ sources: (event as { data: { sources: Cited[] } }).data.sources })
        } else if (event.type === 'error') change({ problem: event.errorText })
        else if (event.type === 'finish') {
          const { usage } = event.messageMetadata
          change({ finishReason: event.finishReason, credits: usage?.credits, wholeMs: since() })
        }
      }
    } catch (error) {
      if (!signal.aborted) change({ problem: sentenceOf(error) })
    } finally {
      setIsRunning(false)
    }
  }

  return {
    messages,
    isRunning,
    ask,
    async stop() {
      if (conversation.current) await parley.stop(agentId, conversation.current).catch(() => {})
    },
    reset() {
      abort.current?.abort()
      conversation.current = undefined
      setMessages([])
    },
  }
}
