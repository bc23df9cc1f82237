import { ParleyError } from '../../client/parley-error.ts'
import { createTries, usualPatience } from '../../client/patience.ts'
import { isSignedOut } from './api.ts'
import type { ChatParts } from './chat-parts.ts'
import { converse } from './converse.ts'
import { newMessage } from './new-message.ts'
import { isFileGone, isRefused, problemOf } from './problem-of.ts'
import type { Outgoing, SentMessage } from './types.ts'

const GIVE_UP_MS = 20_000

/** Sends a message, with retries under the same id while the connection fails, and then follows its conversation. */
export async function deliver(chat: ChatParts, outgoing: Outgoing, signal: AbortSignal): Promise<void> {
  const { store, kept } = chat
  kept.setOutgoing(outgoing)
  store.set({ outgoing, busy: 'sending', problem: null, view: 'chat' })
  let sent: SentMessage
  try {
    sent = await write(chat, outgoing, signal)
  } catch (error) {
    if (signal.aborted) return
    if (isSignedOut(error)) return deliver(chat, { ...outgoing, conversationId: null }, signal)
    if (error instanceof ParleyError && error.code === 'AGENT_NOT_FOUND') store.set({ page: 'not-found' })
    store.set({ busy: null, problem: problemOf(error, 'send', store.get().appearance) })
    if (isRefused(error)) giveBack(chat, isFileGone(error) ? { ...outgoing, files: [] } : outgoing)
    return
  }
  kept.setOutgoing(null)
  kept.setConversationId(sent.conversationId)
  const { conversation, messages } = store.get()
  const isSame = conversation?.id === sent.conversationId
  const earlier = isSame ? messages.filter(({ id }) => id !== sent.messageId) : []
  store.set({
    conversation: isSame ? conversation : { id: sent.conversationId, status: 'ongoing', help: null },
    messages: [...earlier, newMessage('user', sent.messageId, outgoing.text, outgoing.files)],
    outgoing: null,
    connection: 'fine',
    isKnown: true,
    hasLeftDetails: isSame && store.get().hasLeftDetails,
  })
  await converse(chat, sent.conversationId, signal, sent.answering)
}

/** Puts the text and the files of a message that was not sent back into the message field. */
export function giveBack({ store, kept, files }: ChatParts, outgoing: Outgoing | null): void {
  // The visitor has pressed a button and typed nothing; the button is there again.
  const typed = outgoing?.accepts === undefined ? (outgoing?.text ?? '') : ''
  const texts = [typed, store.get().draft].filter((text) => text.trim() !== '')
  kept.setOutgoing(null)
  files.giveBack(outgoing?.files ?? [])
  store.set({ outgoing: null, draft: texts.join('\n') })
}

async function write(
  { api, store, page }: ChatParts,
  outgoing: Outgoing,
  signal: AbortSignal,
): Promise<SentMessage> {
  const tries = createTries(usualPatience, GIVE_UP_MS)
  for (;;) {
    try {
      return await api.write(outgoing, page.address(), signal)
    } catch (error) {
      signal.throwIfAborted()
      // A rate limit is not retried, because its message is written by the agent's owner for the visitor to read.
      if (error instanceof ParleyError && error.status === 429) throw error
      if (!(error instanceof ParleyError)) store.set({ connection: 'lost' })
      await tries.pause(error, signal)
    }
  }
}
