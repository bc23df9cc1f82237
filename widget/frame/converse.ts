import { ParleyError } from '../../client/parley-error.ts'
import { createTries, usualPatience } from '../../client/patience.ts'
import { isSignedOut } from './api.ts'
import type { ChatParts } from './chat-parts.ts'
import { followAnswer } from './follow-answer.ts'
import { problemOf } from './problem-of.ts'
import { runCalls } from './run-calls.ts'
import type { Conversation, Message } from './types.ts'
import { waitForNews } from './wait-for-news.ts'
import { waitSeen } from './wait-seen.ts'
import { word } from './words.ts'

const WATCH_MS = 3_000
const HIDDEN_WATCH_MS = 20_000

/** The reason for a retry when the conversation is still being answered but the stream has ended. */
class NotYet extends Error {}

/**
 * Keeps the display in sync with the stored conversation for as long as something is going on in it: reads the
 * conversation, follows the answer that is being generated, has the page run the agent's calls of client actions, and
 * waits for replies of people. Never throws.
 */
export async function converse(
  chat: ChatParts,
  conversationId: string,
  signal: AbortSignal,
  isAnswering = false,
): Promise<void> {
  const { store } = chat
  const tries = createTries(usualPatience, usualPatience.giveUpMs)
  let follows = isAnswering
  let failed = false
  try {
    for (;;) {
      if (follows) {
        store.set({ busy: 'answering' })
        const before = store.get().live
        failed = (await followAnswer(chat, conversationId, signal)).failed
        if (store.get().live !== before) tries.progress()
      }
      const conversation = await read(chat, conversationId, signal)
      show(chat, conversation)
      const newest = conversation.messages.at(-1)
      const calls = newest?.pendingCalls ?? []
      if (conversation.answering) {
        if (follows) await tries.pause(new NotYet(), signal)
        follows = true
        continue
      }
      follows = false
      if (calls.length > 0 && conversation.status === 'ongoing') {
        if (await runCalls(chat, conversationId, calls, signal)) continue
        await waitSeen(isSeen(chat), WATCH_MS, HIDDEN_WATCH_MS, signal)
        continue
      }
      store.set({ busy: null, isStopping: false })
      noteSilence(chat, conversation, failed)
      if (!(await waitForNews(chat, conversation, signal))) return
    }
  } catch (error) {
    if (signal.aborted) return
    store.set({ busy: null, isStopping: false, isLoading: false })
    const isGone = error instanceof ParleyError && error.code === 'RESOURCE_NOT_FOUND'
    if (isGone || isSignedOut(error)) chat.forgetConversation()
    else if (error instanceof ParleyError && error.code === 'AGENT_NOT_FOUND')
      store.set({ page: 'not-found' })
    else store.set({ problem: problemOf(error, 'load', store.get().appearance) })
  }
}

async function read({ api, store }: ChatParts, id: string, signal: AbortSignal): Promise<Conversation> {
  const tries = createTries(usualPatience, usualPatience.giveUpMs)
  for (;;) {
    try {
      const conversation = await api.conversation(id, signal)
      store.set({ connection: 'fine' })
      return conversation
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof ParleyError)) store.set({ connection: 'lost' })
      await tries.pause(error, signal)
    }
  }
}

/**
 * Replaces the outgoing message and the streamed answer with the stored messages in one step, so that nothing is
 * shown twice.
 */
function show({ store, page }: ChatParts, { id, status, help, answering, messages }: Conversation): void {
  const { outgoing, live, problem, messages: before } = store.get()
  const isStored = outgoing !== null && messages.some((message) => message.id === outgoing.messageId)
  store.set({
    conversation: { id, status, help },
    messages,
    isLoading: false,
    isKnown: true,
    problem: outgoing && !isStored ? problem : null,
    outgoing: isStored ? null : outgoing,
    live: answering ? live : null,
  })
  if (!page.isShown() && hasNews(before, messages)) page.setUnread(true)
}

const isSeen = ({ page }: ChatParts): boolean => page.isShown() && document.visibilityState === 'visible'

function hasNews(before: Message[], now: Message[]): boolean {
  const newest = now.at(-1)
  return before.length > 0 && newest?.role === 'assistant' && before.every(({ id }) => id !== newest.id)
}

/** Shows a problem for a question that will get no answer, or for an answer that broke off. */
function noteSilence({ store }: ChatParts, { status, messages }: Conversation, failed: boolean): void {
  if (status !== 'ongoing') return
  if (messages.at(-1)?.role === 'user') {
    store.set({ problem: { sentence: word('noAnswer'), remedy: 'ask' } })
  } else if (failed) store.set({ problem: { sentence: word('brokeOff'), remedy: 'ask' } })
}
