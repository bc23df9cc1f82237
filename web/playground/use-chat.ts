import { useEffect, useRef, useState } from 'react'
import type { Cited, InputOf } from '../app/api.ts'
import { queries } from '../app/queries.ts'
import { sentenceOf } from '../ui/state.tsx'
import { parley } from './chat-client.ts'

export type ToolCall = { id: string; name: string; input?: unknown; output?: unknown }
export type Said = {
  id: string
  role: 'user' | 'assistant'
  text: string
  sources: Cited[]
  tools: ToolCall[]
  /** Milliseconds from the question to the first word; `wholeMs` is the time to the end of the answer. */
  firstMs?: number
  wholeMs?: number
  finishReason?: string
  problem?: string
  /** The service's id of the message, known once the answer has begun. */
  messageId?: string
}

type Run = InputOf<'POST', '/agents/{agentId}/playground/runs'>['body']
/** How a run differs from an ordinary answer; nothing of this is saved. */
export type Draft = Pick<Run, 'channel' | 'contactId' | 'instructions' | 'model' | 'temp'>

const said = (role: Said['role'], text: string): Said => ({
  id: crypto.getRandomValues(new Uint32Array(2)).join('-'),
  role,
  text,
  sources: [],
  tools: [],
})

/** Returns the actions whose results the answer waits for. */
export const waitingCalls = ({ finishReason, tools }: Said): ToolCall[] =>
  finishReason === 'tool-calls' ? tools.filter(({ output }) => output === undefined) : []

/** Holds a conversation of the playground and streams its answers. They cost nothing and appear in no list. */
export function useChat(agentId: string) {
  const [messages, setMessages] = useState<Said[]>([])
  const [isRunning, setIsRunning] = useState(false)
  const conversation = useRef<string | undefined>(undefined)
  const abort = useRef<AbortController | null>(null)
  useEffect(() => () => abort.current?.abort(), [])

  const changeOf = (id: string) => (part: Partial<Said> | ((now: Said) => Partial<Said>)) =>
    setMessages((all) =>
      all.map((one) =>
        one.id === id ? { ...one, ...(typeof part === 'function' ? part(one) : part) } : one,
      ),
    )

  async function ask(question: string, draft: Draft = {}): Promise<void> {
    const answer = said('assistant', '')
    setMessages((all) => [...all, said('user', question), answer])
    // Only the first message of a conversation identifies the user.
    const { contactId, ...rest } = draft
    const who = conversation.current === undefined ? { contactId } : {}
    await follow(answer.id, { ...rest, ...who, message: question })
  }

  /** Submits the result of an action that waits for the application. After the last one, the answer continues. */
  async function giveResult(answer: Said, call: ToolCall, output: unknown, draft: Draft = {}): Promise<void> {
    if (conversation.current === undefined) return
    await parley.toolResult(agentId, conversation.current, call.id, output)
    changeOf(answer.id)((now) => ({
      tools: now.tools.map((one) => (one.id === call.id ? { ...one, output } : one)),
    }))
    if (waitingCalls(answer).some(({ id }) => id !== call.id)) return
    const { contactId, ...rest } = draft
    await follow(answer.id, rest)
  }

  /** Streams an answer into the message with this id. */
  async function follow(id: string, body: Omit<Run, 'stream' | 'conversationId'>): Promise<void> {
    const change = changeOf(id)
    change({ finishReason: undefined, problem: undefined })
    setIsRunning(true)
    const controller = new AbortController()
    abort.current = controller
    const { signal } = controller
    const startedAt = performance.now()
    const since = () => Math.round(performance.now() - startedAt)
    const sent = { ...body, conversationId: conversation.current }
    try {
      for await (const { event } of await parley.tryOut(agentId, sent, { signal })) {
        if (event.type === 'start') change({ messageId: event.messageId })
        else if (event.type === 'message-metadata') {
          conversation.current = event.messageMetadata.conversationId
        } else if (event.type === 'text-delta') {
          change((now) => ({ text: now.text + event.delta, firstMs: now.firstMs ?? since() }))
        } else if (event.type === 'tool-input-available') {
          const { toolCallId, toolName: name, input } = event
          change((now) => ({ tools: [...now.tools, { id: toolCallId, name, input }] }))
        } else if (event.type === 'tool-output-available') {
          change((now) => ({
            tools: now.tools.map((tool) =>
              tool.id === event.toolCallId ? { ...tool, output: event.output } : tool,
            ),
          }))
        } else if (event.type === 'data-sources') {
          change({ sources: (event as { data: { sources: Cited[] } }).data.sources })
        } else if (event.type === 'error') change({ problem: event.errorText })
        else if (event.type === 'finish') change({ finishReason: event.finishReason, wholeMs: since() })
      }
    } catch (error) {
      if (!signal.aborted) change({ problem: sentenceOf(error) })
    } finally {
      if (abort.current === controller) setIsRunning(false)
      // The record of an answer is extended when the answer continues.
      void queries.invalidateQueries({ queryKey: ['/agents/{agentId}/playground/runs/{messageId}'] })
    }
  }

  return {
    messages,
    isRunning,
    ask,
    giveResult,
    async stop() {
      if (conversation.current) await parley.stop(agentId, conversation.current).catch(() => {})
    },
    reset() {
      abort.current?.abort()
      abort.current = null
      conversation.current = undefined
      setMessages([])
      setIsRunning(false)
    },
  }
}
