import { type RefObject, useEffect, useRef, useState } from 'react'
import type { AnswerEvent } from '../../client/events.ts'
import { randomKey } from '../../client/random-key.ts'
import type { Cited, InputOf } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
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
  /** The version of the agent that has answered, if it is not the live one. */
  version?: 'draft' | undefined
}

type Body = Omit<InputOf<'POST', '/agents/{agentId}/playground/runs'>['body'], 'stream'>
/** What a run is asked for with; what is undefined is not sent. */
type Run = { [Name in keyof Body]?: Body[Name] | undefined }
/** How a run differs from an ordinary answer; nothing of this is saved. */
export type Draft = Pick<Run, 'channel' | 'contactId' | 'instructions' | 'model' | 'temp' | 'version'>

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

type Change = Partial<TrialMessage> | ((now: TrialMessage) => Partial<TrialMessage>)

const withOutput = (tools: ToolCall[], id: string, output: unknown): ToolCall[] =>
  tools.map((one) => (one.id === id ? { ...one, output } : one))

const start = (before: TrialMessage, sent: Run): Running => ({
  key: randomKey(),
  sent,
  before: { ...before, finishReason: undefined, problem: undefined },
})

/** Returns what an event changes about the answer; `sinceMs` is how long ago the question was asked, if known. */
function changeBy(event: AnswerEvent, sinceMs: number | undefined): Change {
  switch (event.type) {
    case 'start':
      return { messageId: event.messageId }
    case 'text-delta':
      return (now) => ({ text: now.text + event.delta, firstMs: now.firstMs ?? sinceMs })
    case 'tool-input-available': {
      const { toolCallId, toolName: name, input } = event
      return (now) => ({ tools: [...now.tools, { id: toolCallId, name, input }] })
    }
    case 'tool-output-available':
      return ({ tools }) => ({ tools: withOutput(tools, event.toolCallId, event.output) })
    case 'data-sources':
      return { sources: (event as { data: { sources: Cited[] } }).data.sources }
    case 'error':
      return { problem: event.errorText }
    case 'finish':
      return {
        finishReason: event.finishReason,
        wholeMs: sinceMs,
        offer: event.messageMetadata.offer,
      }
    default:
      return {}
  }
}

function useMessages(kept: TrialMessage[]) {
  const [messages, setMessages] = useState(kept)
  const changeOf = (id: string) => (part: Change) =>
    setMessages((all) =>
      all.map((one) =>
        one.id === id ? { ...one, ...(typeof part === 'function' ? part(one) : part) } : one,
      ),
    )
  return { messages, setMessages, changeOf }
}

/** Saves whenever `moment` is another one, and when the page is left, because all of the conversation is written each time. */
function useSaving(moment: unknown, saveNow: () => void): void {
  const save = useRef(saveNow)
  save.current = saveNow
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
}

/** Follows an answer at a time. The one that was `kept` is resumed. */
function useAnswer(
  agentId: string,
  conversation: RefObject<string | undefined>,
  changeOf: (id: string) => (part: Change) => void,
  kept: Running | undefined,
) {
  const [isRunning, setIsRunning] = useState(false)
  const running = useRef<Running | undefined>(kept)
  const abort = useRef<AbortController | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was kept is resumed on mount only
  useEffect(() => {
    if (running.current) void follow(running.current, true)
    return () => abort.current?.abort()
  }, [])
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
        if (event.type === 'message-metadata') {
          conversation.current = event.messageMetadata.conversationId
        } else change(changeBy(event, since()))
      }
    } catch (error) {
      if (!signal.aborted) change({ problem: sentenceOf(error) })
    } finally {
      // When the page is left, the answer is still on its way.
      if (running.current === one && !signal.aborted) running.current = undefined
      if (abort.current === controller) setIsRunning(false)
      // The record of an answer is extended when the answer continues.
      void fetchAgain('/agents/{agentId}/playground/runs/{messageId}')
    }
  }

  function cancel(): void {
    abort.current?.abort()
    abort.current = null
    running.current = undefined
    setIsRunning(false)
  }
  return { running, isRunning, follow, cancel }
}

/**
 * Holds a conversation of the playground and streams its answers. They cost nothing and appear in no list. With `name`,
 * the conversation survives a reload of the page: an answer that was on its way is asked for again with its key, so that
 * the service continues with the same one.
 */
export function useChat(agentId: string, name?: string) {
  const [kept] = useState(() => (name === undefined ? null : readKept<StoredTrial>(name)))
  const { messages, setMessages, changeOf } = useMessages(kept?.messages ?? [])
  const conversation = useRef<string | undefined>(kept?.conversationId)
  const { running, isRunning, follow, cancel } = useAnswer(agentId, conversation, changeOf, kept?.running)
  useSaving(isRunning ? `${messages.at(-1)?.id} is running` : messages, () => {
    if (name === undefined) return
    const { current: conversationId } = conversation
    keep(name, messages.length === 0 ? null : { messages, conversationId, running: running.current })
  })
  async function ask(question: string, draft: Draft = {}, acceptsOffer?: true): Promise<void> {
    const version = draft.version === 'draft' ? ('draft' as const) : undefined
    const answer = { ...said('assistant', ''), version }
    setMessages((all) => [...all, said('user', question), answer])
    // Only the first message of a conversation identifies the user.
    const { contactId, ...rest } = draft
    const who = conversation.current === undefined ? { contactId } : {}
    await follow(
      start(answer, {
        conversationId: conversation.current,
        ...rest,
        ...who,
        message: question,
        acceptsOffer,
      }),
    )
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
    changeOf(answer.id)(({ tools }) => ({ tools: withOutput(tools, call.id, output) }))
    if (waitingCalls(answer).some(({ id }) => id !== call.id)) return
    const { contactId, ...rest } = draft
    const resolved = { ...answer, tools: withOutput(answer.tools, call.id, output) }
    await follow(start(resolved, { ...rest, conversationId: conversation.current }))
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
      cancel()
      conversation.current = undefined
      setMessages([])
    },
  }
}
