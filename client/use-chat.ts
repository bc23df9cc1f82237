import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai'
import { chunkStream } from './chunk-stream.ts'
import { createConversationIds, type KeptStrings } from './conversation-ids.ts'
import { nothingDelivered } from './delivered.ts'
import type { AnswerEvent } from './events.ts'
import { missingEvents } from './missing-events.ts'
import type { Answer, Parley } from './parley.ts'
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
  /** The answers that this page has asked for and follows. */
  const asked = new Map<string, Asked>()
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
    own?: Asked,
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

  function end(chatId: string, own: Asked): void {
    own.begin()
    if (asked.get(chatId) === own) asked.delete(chatId)
  }

  return {
    // What reconnectToStream gives begins with the first part of the message.
    resumeStreamIsReplay: true,

    async sendMessages(send) {
      const { chatId } = send
      const controller = linkedTo(send.abortSignal)
      const own = newAsked()
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
          // The page has gone on meanwhile: this is the answer it follows already.
          controller.abort()
          return null
        }
        if (answer) return follow(chatId, eventsOf(answer), controller)
        if (!unfinished.delete(chatId)) return null
        // It ended between two looks at it.
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

type Asked = {
  /** Resolves when the conversation of the answer is known, or will never be. */
  begun: Promise<void>
  begin(): void
}

function newAsked(): Asked {
  let begin = (): void => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  return { begun, begin }
}

async function* eventsOf(answer: Answer): AsyncGenerator<AnswerEvent, void> {
  for await (const { event } of answer) yield event
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
