import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai'
import { chunkStream } from './chunk-stream.ts'
import { createConversationIds, type KeptStrings } from './conversation-ids.ts'
import { nothingDelivered } from './delivered.ts'
import type { AnswerEvent } from './events.ts'
import { missingEvents } from './missing-events.ts'
import type { Answer, Parley } from './parley.ts'
import { ParleyError } from './parley-error.ts'
import { linkedTo } from './patience.ts'
import { conversationIn, messageText, pageResults, toUIMessages } from './ui-messages.ts'

export type TransportOptions = {
  parley: Parley
  agentId: string
  /** The id of the user that new conversations are tagged with. */
  userId?: string | undefined
  /** The store for the ids of conversations; the default is localStorage. */
  storage?: KeptStrings | undefined
}

export type ParleyTransport<M extends UIMessage = UIMessage> = ChatTransport<M> & {
  /** Returns the newest messages of the chat's conversation, for the initial messages of useChat. */
  loadMessages(chatId: string): Promise<UIMessage[]>
  /** Ends the running answer and keeps its text so far. Returns false when no answer was running. */
  stop(chatId: string): Promise<boolean>
  conversationId(chatId: string): string | undefined
  /** Makes the next message of the chat start a new conversation. */
  forget(chatId: string): void
}

type Send = Parameters<ChatTransport<UIMessage>['sendMessages']>[0]

const NEWEST = 50

/**
 * Connects useChat to an agent. The chat needs a fixed `id`, by which its conversation is found again after a reload.
 * Errors are thrown as ParleyError, or as fetch throws them.
 */
export function createChatTransport<M extends UIMessage = UIMessage>(
  options: TransportOptions,
): ParleyTransport<M> {
  const { parley, agentId, userId } = options
  const ids = createConversationIds(options.storage)
  /** The ids of chats that have not received the end of their last answer. */
  const unfinished = new Set<string>()
  /** The answers that this page has requested and is streaming, by the id of the chat. */
  const asked = new Map<string, Sending>()
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

  function follow(
    chatId: string,
    events: AsyncIterator<AnswerEvent> | Iterator<AnswerEvent>,
    controller: AbortController,
    own?: Sending,
  ): ReadableStream<UIMessageChunk> {
    unfinished.add(chatId)
    return chunkStream(events, {
      onEvent(event) {
        if (event.type === 'message-metadata') {
          ids.set(chatId, event.messageMetadata.conversationId)
          own?.begin()
        }
        if (event.type === 'finish' || event.type === 'error') unfinished.delete(chatId)
      },
      onEnd: () => own && end(chatId, own),
      onCancel: () => controller.abort(),
    })
  }

  function end(chatId: string, own: Sending): void {
    own.begin()
    if (asked.get(chatId) === own) asked.delete(chatId)
  }

  return {
    // The stream returned by reconnectToStream starts with the first part of the message.
    resumeStreamIsReplay: true,

    async sendMessages(send) {
      const { chatId } = send
      const controller = linkedTo(send.abortSignal)
      const own = newSending()
      asked.set(chatId, own)
      try {
        return follow(chatId, eventsOf(await openAnswer(send, controller.signal)), controller, own)
      } catch (error) {
        end(chatId, own)
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
        if (asked.has(chatId)) {
          // The page has sent a message in the meantime, so it already follows this answer.
          controller.abort()
          return null
        }
        if (answer) return follow(chatId, eventsOf(answer), controller)
        if (!unfinished.delete(chatId)) return null
        // The answer ended while this page was not connected to it.
        const { data } = await parley.messages(agentId, conversationId, { limit: 1, signal })
        const stored = data.at(-1)
        if (stored?.role !== 'assistant') return null
        const events = missingEvents(stored, stored.parts, nothingDelivered(), conversationId)
        return follow(chatId, events, controller)
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
      const own = asked.get(chatId)
      if (!own) return false
      await own.begun
      return stopNow()
    },

    conversationId: (chatId) => ids.get(chatId),
    forget(chatId) {
      ids.delete(chatId)
      unfinished.delete(chatId)
    },
  }
}

type Sending = {
  /** Resolves when the answer's conversation is known, or when it is certain that it will not be. */
  begun: Promise<void>
  begin(): void
}

function newSending(): Sending {
  let begin = (): void => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  return { begun, begin }
}

async function* eventsOf(answer: Answer): AsyncGenerator<AnswerEvent, void> {
  for await (const { event } of answer) yield event
}

/**
 * Ignores that the call has already been resolved, by another tab or an earlier try, or no longer waits for a result.
 */
function ignoreResolved(error: unknown): void {
  if (!(error instanceof ParleyError) || error.code !== 'RESOURCE_TOOL_CALL_NOT_FOUND') throw error
}

/**
 * Returns the id of the answer that useChat wants regenerated: the named answer, the answer to the named user
 * message, or by default the newest one. Returns undefined when the service has no such answer.
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
