import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai'
import { createConversationIds, type KeptStrings } from './conversation-ids.ts'
import { nothingDelivered } from './delivered.ts'
import type { AnswerEvent } from './events.ts'
import { missingEvents } from './missing-events.ts'
import type { Parley } from './parley.ts'
import { ParleyError } from './parley-error.ts'
import { conversationIn, messageText, pageResults, toUIMessages } from './ui-messages.ts'

export type TransportOptions = {
  parley: Parley
  agentId: string
  /** Tags new conversations. */
  userId?: string
  /** Where the ids of conversations are kept; by default localStorage. */
  storage?: KeptStrings
}

export type ParleyTransport<M extends UIMessage = UIMessage> = ChatTransport<M> & {
  /** The newest messages of the chat's conversation, to start useChat with. */
  loadMessages(chatId: string): Promise<UIMessage[]>
  /** Ends the running answer and keeps what was said. False when none ran. */
  stop(chatId: string): Promise<boolean>
  conversationId(chatId: string): string | undefined
  /** The next message of the chat starts a new conversation. */
  forget(chatId: string): void
}

type Send = Parameters<ChatTransport<UIMessage>['sendMessages']>[0]

const NEWEST = 50

/**
 * Connects useChat with an agent. The chat needs a fixed `id`: under it the conversation is found again after a
 * reload. What goes wrong is thrown as ParleyError, or as fetch throws it.
 */
export function createChatTransport<M extends UIMessage = UIMessage>(
  options: TransportOptions,
): ParleyTransport<M> {
  const { parley, agentId, userId } = options
  const ids = createConversationIds(options.storage)
  /** Chats that have not seen the end of their last answer. */
  const unfinished = new Set<string>()
  /** Answers that have been asked for and have not begun. */
  const starting = new Map<string, Promise<void>>()
  const submitted = new Set<string>()

  async function submitResults(conversationId: string, message: UIMessage | undefined): Promise<void> {
    const results = message ? pageResults(message) : []
    const waiting = results.filter(({ toolCallId }) => !submitted.has(toolCallId))
    await Promise.all(
      waiting.map(async ({ toolCallId, output }) => {
        await parley.toolResult(agentId, conversationId, toolCallId, output).catch(ignoreResolved)
        submitted.add(toolCallId)
      }),
    )
  }

  async function openAnswer({ trigger, chatId, messageId, messages }: Send, signal: AbortSignal) {
    const conversationId = conversationIn(messages) ?? ids.get(chatId)
    const newest = messages.at(-1)
    if (!newest) throw new Error('There is no message to send.')
    if (trigger === 'regenerate-message' && conversationId !== undefined) {
      const target = await answerToRetry(parley, agentId, conversationId, messageId)
      if (target !== undefined) return parley.retry(agentId, conversationId, target, { signal })
    }
    if (newest.role === 'user') {
      if (trigger === 'submit-message' && messageId !== undefined) {
        throw new Error('A message that was sent cannot be changed. Send a new one.')
      }
      if (conversationId !== undefined) await submitResults(conversationId, messages.at(-2))
      return parley.chat(agentId, { message: messageText(newest), conversationId, userId }, { signal })
    }
    if (conversationId === undefined) throw new Error('The conversation to continue is not known.')
    await submitResults(conversationId, messages.find(({ id }) => id === messageId) ?? newest)
    return parley.chat(agentId, { conversationId }, { signal })
  }

  /** The answer as useChat reads it; `onStart` is called when its conversation is known, or will never be. */
  function follow(
    chatId: string,
    answer: AsyncIterator<{ event: AnswerEvent }> | Iterator<{ event: AnswerEvent }>,
    { controller, onStart }: { controller?: AbortController; onStart?: () => void } = {},
  ): ReadableStream<UIMessageChunk> {
    unfinished.add(chatId)
    return new ReadableStream<UIMessageChunk>({
      async pull(stream) {
        try {
          const { done, value } = await answer.next()
          if (done) {
            stream.close()
            onStart?.()
            return
          }
          const { event } = value
          if (event.type === 'message-metadata') {
            ids.set(chatId, event.messageMetadata.conversationId)
            onStart?.()
          }
          if (event.type === 'finish' || event.type === 'error') unfinished.delete(chatId)
          stream.enqueue(event as UIMessageChunk)
        } catch (error) {
          onStart?.()
          throw error
        }
      },
      cancel() {
        onStart?.()
        controller?.abort()
      },
    })
  }

  return {
    // What reconnectToStream gives begins with the first part of the message.
    resumeStreamIsReplay: true,

    async sendMessages(send) {
      const controller = linkedTo(send.abortSignal)
      let onStart = (): void => {}
      const started = new Promise<void>((resolve) => {
        onStart = resolve
      })
      starting.set(send.chatId, started)
      void started.then(() => {
        if (starting.get(send.chatId) === started) starting.delete(send.chatId)
      })
      try {
        const answer = await openAnswer(send, controller.signal)
        return follow(send.chatId, answer, { controller, onStart })
      } catch (error) {
        onStart()
        throw error
      }
    },

    async reconnectToStream({ chatId, abortSignal }) {
      const conversationId = ids.get(chatId)
      if (conversationId === undefined) return null
      const controller = linkedTo(abortSignal)
      const { signal } = controller
      try {
        const answer = await parley.reattach(agentId, conversationId, { signal })
        if (answer) return follow(chatId, answer, { controller })
        if (!unfinished.delete(chatId)) return null
        // It ended between two looks at it.
        const { data } = await parley.messages(agentId, conversationId, { limit: 1, signal })
        const stored = data.at(-1)
        if (stored?.role !== 'assistant') return null
        const events = missingEvents(stored, stored.parts, nothingDelivered(), conversationId)
        return follow(chatId, wrap(events))
      } catch (error) {
        if (error instanceof ParleyError && error.status === 404) return null
        throw error
      }
    },

    async loadMessages(chatId) {
      const conversationId = ids.get(chatId)
      if (conversationId === undefined) return []
      try {
        const { data } = await parley.messages(agentId, conversationId, { limit: NEWEST })
        if (data.at(-1)?.role === 'user') unfinished.add(chatId)
        return toUIMessages(data, conversationId)
      } catch (error) {
        if (!(error instanceof ParleyError) || error.code !== 'RESOURCE_NOT_FOUND') throw error
        ids.delete(chatId)
        return []
      }
    },

    async stop(chatId) {
      const stopNow = async (): Promise<boolean> => {
        const conversationId = ids.get(chatId)
        return conversationId !== undefined && (await parley.stop(agentId, conversationId)).stopped
      }
      if (await stopNow()) return true
      const started = starting.get(chatId)
      if (!started) return false
      await started
      return stopNow()
    },

    conversationId: (chatId) => ids.get(chatId),
    forget(chatId) {
      ids.delete(chatId)
      unfinished.delete(chatId)
    },
  }
}

function* wrap(events: Iterable<AnswerEvent>): Generator<{ event: AnswerEvent }, void> {
  for (const event of events) yield { event }
}

/** A controller of its own that the given signal aborts too. */
function linkedTo(signal: AbortSignal | undefined): AbortController {
  const controller = new AbortController()
  if (signal?.aborted) controller.abort(signal.reason)
  signal?.addEventListener('abort', () => controller.abort(signal.reason), { once: true })
  return controller
}

/** Somebody else (another tab, an earlier try) was faster, or it is too late: either way there is nothing to do. */
function ignoreResolved(error: unknown): void {
  if (!(error instanceof ParleyError) || error.code !== 'RESOURCE_TOOL_CALL_NOT_FOUND') throw error
}

/**
 * The answer that useChat wants made again: the one it names, or the one behind the user message it names, or the
 * newest. undefined when the service has no answer there.
 */
async function answerToRetry(
  parley: Parley,
  agentId: string,
  conversationId: string,
  messageId: string | undefined,
): Promise<string | undefined> {
  const { data } = await parley.messages(agentId, conversationId, { limit: NEWEST })
  if (messageId === undefined) {
    const newest = data.at(-1)
    return newest?.role === 'assistant' ? newest.id : undefined
  }
  const index = data.findIndex(({ id }) => id === messageId)
  if (index === -1) return messageId
  return data.slice(index).find(({ role }) => role === 'assistant')?.id
}
