import { ParleyError } from '../../client/parley-error.ts'
import { type Api, createApi } from './api.ts'
import { converse } from './converse.ts'
import { deliver } from './deliver.ts'
import { createKept, type Kept } from './kept.ts'
import type { Page } from './page.ts'
import { problemOf } from './problem-of.ts'
import { newUuid } from './random.ts'
import { emptyTalk, initialState, type State } from './state.ts'
import { createStore, type Store } from './store.ts'
import type { ConversationSummary, Details, Feedback, Message, Outgoing } from './types.ts'

/** The state of the chat and everything that changes it. */
export type Chat = {
  store: Store<State>
  api: Api
  kept: Kept
  page: Page
  start(): Promise<void>
  send(text: string, options?: { isSpoken: boolean }): Promise<void>
  /** What the problem that is shown offers. */
  remedy(): void
  /** Gives up the message that could not be sent: its text is to be typed on. */
  discard(): void
  stop(): Promise<void>
  /** Reads the shown conversation again and goes on with what is under way in it. */
  look(): Promise<void>
  show(view: State['view']): void
  openConversation(id: string): Promise<void>
  startNew(): void
  conversations(): Promise<ConversationSummary[]>
  rate(messageId: string, feedback: Feedback): Promise<void>
  leaveDetails(details: Details): Promise<void>
  dismissNotice(): void
  /** The shown conversation does not exist any more. */
  forgetConversation(): void
}

export function createChat(agentId: string, page: Page): Chat {
  const store = createStore(initialState)
  const kept = createKept(agentId)
  const api = createApi(agentId, kept)
  /** One thing at a time is under way; what begins ends what was before. */
  let current = new AbortController()
  const begin = (): AbortSignal => {
    current.abort(new Error('Something else has begun.'))
    current = new AbortController()
    return current.signal
  }

  const chat: Chat = {
    store,
    api,
    kept,
    page,

    async start() {
      store.set({ page: 'loading', problem: null })
      try {
        const appearance = await api.appearance()
        const isNoticeDismissed = kept.dismissedNotice() === appearance.chat.dismissableNotice
        store.set({ appearance, isNoticeDismissed, isKnown: kept.secret() !== null })
      } catch (error) {
        const isGone = error instanceof ParleyError && error.code === 'AGENT_NOT_FOUND'
        return store.set({ page: isGone ? 'not-found' : 'unreachable' })
      }
      store.set({ page: 'ready' })
      const conversationId = kept.conversationId()
      const outgoing = kept.outgoing()
      // The page was left before the service had confirmed the message.
      if (outgoing) return deliver(chat, outgoing, begin())
      if (conversationId) await chat.openConversation(conversationId)
    },

    async send(text, { isSpoken } = { isSpoken: false }) {
      const { busy, conversation, outgoing: waiting } = store.get()
      const message = text.trim()
      if (busy || waiting || message === '') return
      const conversationId = conversation?.id ?? null
      const outgoing: Outgoing = { messageId: newUuid(), text: message, isSpoken, conversationId }
      await deliver(chat, outgoing, begin())
    },

    remedy() {
      const { problem, outgoing, messages, conversation } = store.get()
      store.set({ problem: null })
      if (problem?.remedy === 'send' && outgoing) void deliver(chat, outgoing, begin())
      else if (problem?.remedy === 'load') void chat.look()
      else if (problem?.remedy === 'ask') {
        const question = messages.findLast(({ role }) => role === 'user')
        if (!question) return
        // One that nothing was said to is still to be answered: it is not asked twice.
        const isOpen = question === messages.at(-1)
        if (isOpen) void deliver(chat, sentBefore(question, conversation?.id ?? null), begin())
        else void chat.send(question.text)
      }
    },

    discard() {
      const { outgoing, draft } = store.get()
      const texts = [outgoing?.text ?? '', draft].filter((text) => text.trim() !== '')
      kept.setOutgoing(null)
      store.set({ outgoing: null, problem: null, draft: texts.join('\n') })
    },

    async stop() {
      const { conversation } = store.get()
      if (!conversation) return
      store.set({ isStopping: true })
      try {
        await api.stop(conversation.id)
      } catch (error) {
        store.set({ isStopping: false, problem: problemOf(error, null) })
      }
    },

    async look() {
      const { conversation, busy } = store.get()
      if (conversation && !busy) await converse(chat, conversation.id, begin())
    },

    show: (view) => store.set({ view }),

    async openConversation(id) {
      kept.setConversationId(id)
      store.set({ ...emptyTalk, conversation: { id, status: 'ongoing' }, isLoading: true })
      await converse(chat, id, begin())
    },

    startNew() {
      begin()
      chat.forgetConversation()
    },

    forgetConversation() {
      kept.setConversationId(null)
      kept.setOutgoing(null)
      store.set(emptyTalk)
    },

    conversations: () => api.conversations(),

    async rate(messageId, feedback) {
      const { conversation } = store.get()
      if (!conversation) return
      const put = (next: Feedback): void =>
        store.set({
          messages: store
            .get()
            .messages.map((message) => (message.id === messageId ? { ...message, feedback: next } : message)),
        })
      const before = store.get().messages.find(({ id }) => id === messageId)?.feedback ?? null
      put(feedback)
      try {
        await api.rate(conversation.id, messageId, feedback)
      } catch {
        put(before)
      }
    },

    async leaveDetails(details) {
      await api.leaveDetails(details, store.get().conversation?.id ?? null)
      store.set({ hasLeftDetails: true, isKnown: true })
    },

    dismissNotice() {
      kept.dismissNotice(store.get().appearance?.chat.dismissableNotice ?? '')
      store.set({ isNoticeDismissed: true })
    },
  }

  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') void chat.look()
  })
  addEventListener('online', () => {
    const { page: shown, problem } = store.get()
    if (shown === 'unreachable') void chat.start()
    else if (problem?.remedy === 'send' || problem?.remedy === 'load') chat.remedy()
  })
  return chat
}

/** Under the same id it is the message that is there, and is answered. */
const sentBefore = ({ id, text }: Message, conversationId: string | null): Outgoing => ({
  messageId: id,
  text,
  isSpoken: false,
  conversationId,
})
