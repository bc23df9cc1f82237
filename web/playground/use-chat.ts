import { useEffect, useRef, useState } from 'react'
import { randomKey } from '../../client/random-key.ts'
import type { Cited, InputOf } from '../app/api.ts'
import { queries } from '../app/queries.ts'
import { inSession } from '../app/session-end.ts'
import { keep, readKept } from '../app/use-kept.ts'
import { sentenceOf } from '../ui/state.tsx'
import { parley } from './chat-client.ts'

export type ToolCall = { id: string; name: string; input?: unknown; output?: unknown }
export type TrialMessage = {
  id: string
  role: 'user' | 'assistant'
  text: string
  sources: Cited[]
  tools: ToolCall[]
  /** Milliseconds from the question to the first word; `wholeMs` is the time to the end of the answer. */
  firstMs?: number | undefined
  wholeMs?: number | undefined
  finishReason?: string | undefined
  problem?: string | undefined
  /** The service's id of the message, known once the answer has begun. */
  messageId?: string
  offer?: 'person' | undefined
}

type Body = Omit<InputOf<'POST', '/agents/{agentId}/playground/runs'>['body'], 'stream'>
/** What a run is asked for with; what is undefined is not sent. */
type Run = { [Name in keyof Body]?: Body[Name] | undefined }
/** How a run differs from an ordinary answer; nothing of this is saved. */
export type Draft = Pick<Run, 'channel' | 'contactId' | 'instructions' | 'model' | 'temp'>

const said = (role: TrialMessage['role'], text: string): TrialMessage => ({
  id: crypto.getRandomValues(new Uint32Array(2)).join('-'),
  role,
  text,
  sources: [],
  tools: [],
})

/** Returns the actions whose results the answer waits for. */
export const waitingCalls = ({ finishReason, tools }: TrialMessage): ToolCall[] =>
  finishReason === 'tool-calls' ? tools.filter(({ output }) => output === undefined) : []

/** An answer that is on its way: what was asked with which key, and the message as it was before. */
type Running = { key: string; sent: Run; before: TrialMessage }
type StoredTrial = { messages: TrialMessage[]; conversationId?: string; running?: Running }

/**
 * Holds a conversation of the playground and streams its answers. They cost nothing and appear in no list. With `name`,
 * the conversation survives a reload of the page: an answer that was on its way is asked for again with its key, so that
 * the service continues with the same one.
 */
export function useChat(agentId: string, name?: string) {
  const [kept] = useState(() => (name === undefined ? null : readKept<StoredTrial>(name)))
  const [messages, setMessages] = useState<TrialMessage[]>(kept?.messages ?? [])
  const [isRunning, setIsRunning] = useState(false)
  const conversation = useRef<string | undefined>(kept?.conversationId)
  const running = useRef<Running | undefined>(kept?.running)
  const abort = useRef<AbortController | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was kept is resumed on mount only
  useEffect(() => {
    if (running.current) void follow(running.current, true)
    return () => abort.current?.abort()
  }, [])
  const save = useRef(() => {})
  save.current = () => {
    if (name === undefined) return
    const { current: conversationId } = conversation
    keep(name, messages.length === 0 ? null : { messages, conversationId, running: running.current })
  }
  // While an answer grows, it is only kept when the page is left, because all of the conversation is written each time.
  const moment = isRunning ? `${messages.at(-1)?.id} is running` : messages
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when there is something new to keep
  useEffect(() => save.current(), [moment])
  useEffect(() => {
    const leave = (): void => save.current()
    addEventListener('pagehide', leave)
    return () => {
      removeEventListener('pagehide', leave)
      leave()
    }
  }, [])

  const changeOf =
    (id: string) => (part: Partial<TrialMessage> | ((now: TrialMessage) => Partial<TrialMessage>)) =>
      setMessages((all) =>
        all.map((one) =>
          one.id === id ? { ...one, ...(typeof part === 'function' ? part(one) : part) } : one,
        ),
      )

  async function ask(question: string, draft: Draft = {}, acceptsOffer?: true): Promise<void> {
    const answer = said('assistant', '')
    setMessages((all) => [...all, said('user', question), answer])
    // Only the first message of a conversation identifies the user.
    const { contactId, ...rest } = draft
    const who = conversation.current === undefined ? { contactId } : {}
    await follow(start(answer, { ...rest, ...who, message: question, acceptsOffer }))
  }

  /** Submits the result of an action that waits for the application. After the last one, the answer continues. */
  async function giveResult(
    answer: TrialMessage,
    call: ToolCall,
    output: unknown,
    draft: Draft = {},
  ): Promise<void> {
    if (conversation.current === undefined) return
    await parley.toolResult(agentId, conversation.current, call.id, output)
    changeOf(answer.id)((now) => ({
      tools: now.tools.map((one) => (one.id === call.id ? { ...one, output } : one)),
    }))
    if (waitingCalls(answer).some(({ id }) => id !== call.id)) return
    const { contactId, ...rest } = draft
    const resolved = {
      ...answer,
      tools: answer.tools.map((one) => (one.id === call.id ? { ...one, output } : one)),
    }
    await follow(start(resolved, rest))
  }

  const start = (before: TrialMessage, body: Omit<Run, 'conversationId'>): Running => ({
    key: randomKey(),
    sent: { ...body, conversationId: conversation.current },
    before: { ...before, finishReason: undefined, problem: undefined },
  })

  /** Streams an answer into its message. `isAgain`: it had begun before the page was reloaded. */
  async function follow(one: Running, isAgain = false): Promise<void> {
    const { key, sent, before } = one
    running.current = one
    const change = changeOf(before.id)
    change(before)
    setIsRunning(true)
    const controller = new AbortController()
    abort.current = controller
    const { signal } = controller
    const startedAt = performance.now()
    // The beginning of an answer that is asked for again was not seen.
    const since = () => (isAgain ? undefined : Math.round(performance.now() - startedAt))
    const send = () => parley.tryOut(agentId, sent, { signal, idempotencyKey: key })
    try {
      for await (const { event } of await inSession(send)) {
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
        else if (event.type === 'finish') {
          const { offer } = event.messageMetadata
          change({ finishReason: event.finishReason, wholeMs: since(), offer })
        }
      }
    } catch (error) {
      if (!signal.aborted) change({ problem: sentenceOf(error) })
    } finally {
      // When the page is left, the answer is still on its way.
      if (running.current === one && !signal.aborted) running.current = undefined
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
      running.current = undefined
      setMessages([])
      setIsRunning(false)
    },
  }
}
