import { ParleyError } from '../../client/parley-error.ts'
import { createApi } from './api.ts'
import type { ChatParts } from './chat-parts.ts'
import { converse } from './converse.ts'
import { deliver, giveBack } from './deliver.ts'
import { createFiles } from './files.ts'
import { createKept } from './kept.ts'
import type { Page } from './page.ts'
import { problemOf } from './problem-of.ts'
import { newUuid } from './random.ts'
import { createSignIn } from './sign-in.ts'
import { emptyTalk, initialState, type State } from './state.ts'
import { createStore } from './store.ts'
import type { ConversationSummary, Details, Feedback, Message, Outgoing } from './types.ts'
import { sentence } from './words.ts'

/** The state of the chat and everything that changes it. */
export type Chat = ChatParts & {
  start(): Promise<void>
  /** Resumes the conversation that is stored in the browser. */
  resume(): Promise<void>
  /** Called when the page has signed the visitor in or out. */
  identify(): Promise<void>
  send(text: string, options?: { isSpoken: boolean }): Promise<void>
  /** Applies the remedy that is offered for the current problem. */
  remedy(): void
  /** Gives up the message that could not be sent and puts its text back into the message field. */
  discard(): void
  stop(): Promise<void>
  /** Reloads the open conversation and resumes what is going on in it. */
  look(): Promise<void>
  show(view: State['view']): void
  openConversation(id: string): Promise<void>
  startNew(): void
  conversations(): Promise<ConversationSummary[]>
  rate(messageId: string, feedback: Feedback): Promise<void>
  leaveDetails(details: Details): Promise<void>
  /** Accepts the offer of a person that the newest answer makes. */
  acceptOffer(answer: Message): Promise<void>
  /** Asks for a person from the team, in the open conversation or a new one. */
  askForPerson(): Promise<void>
  dismissNotice(): void
}

export function createChat(agentId: string, page: Page): Chat {
  const store = createStore(initialState)
  const kept = createKept(agentId)
  const api = createApi(agentId, kept)
  const files = createFiles(store, api)
  const signIn = createSignIn()
  /** The controller of the current operation. There is only one at a time; starting one aborts the previous one. */
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
    files,
    page,

    start: () => start(chat, signIn),

    async resume() {
      store.set({ page: 'ready' })
      const conversationId = kept.conversationId()
      const outgoing = kept.outgoing()
      // The visitor left the page before the service had confirmed the message.
      if (outgoing) return deliver(chat, outgoing, begin())
      if (conversationId) await chat.openConversation(conversationId)
    },

    async identify() {
      const { page: shown, appearance } = store.get()
      if (shown !== 'ready' || !appearance?.takesIdentity || !(await signIn(chat))) return
      begin()
      store.set({ ...emptyTalk, isKnown: kept.secret() !== null })
      await chat.resume()
    },

    async send(text, { isSpoken } = { isSpoken: false }) {
      const { busy, conversation, outgoing: waiting } = store.get()
      const message = text.trim()
      if (busy || waiting || !hasSomethingToSend(store.get(), message)) return
      const conversationId = conversation?.id ?? null
      const outgoing = { messageId: newUuid(), text: message, files: files.take(), isSpoken, conversationId }
      await deliver(chat, outgoing, begin())
    },

    remedy: () => remedy(chat, begin),

    discard() {
      giveBack(chat, store.get().outgoing)
      store.set({ problem: null })
    },

    stop: () => stop(chat),

    async look() {
      const { conversation, busy } = store.get()
      if (conversation && !busy) await converse(chat, conversation.id, begin())
    },

    show: (view) => store.set({ view }),

    async openConversation(id) {
      kept.setConversationId(id)
      store.set({ ...emptyTalk, conversation: { id, status: 'ongoing', help: null }, isLoading: true })
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

    rate: (messageId, feedback) => rate(chat, messageId, feedback),

    async leaveDetails(details) {
      await api.leaveDetails(details, store.get().conversation?.id ?? null)
      store.set({ hasLeftDetails: true, isKnown: true })
    },

    async acceptOffer({ id: accepts }) {
      const { busy, conversation, outgoing: waiting } = store.get()
      if (busy || waiting || !conversation) return
      const text = sentence('person')
      const outgoing = { messageId: newUuid(), text, files: [], isSpoken: false, accepts }
      await deliver(chat, { ...outgoing, conversationId: conversation.id }, begin())
    },

    askForPerson: () => askForPerson(chat, begin),

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

async function start(chat: Chat, signIn: ReturnType<typeof createSignIn>): Promise<void> {
  const { store, api, kept } = chat
  store.set({ page: 'loading', problem: null })
  try {
    const appearance = await api.appearance()
    // Visitors are signed in before they can write, so that messages belong to the user whom the site has signed
    // in.
    if (appearance.takesIdentity) await signIn(chat)
    const isNoticeDismissed = kept.dismissedNotice() === appearance.chat.dismissableNotice
    store.set({ appearance, isNoticeDismissed, isKnown: kept.secret() !== null })
  } catch (error) {
    const isGone = error instanceof ParleyError && error.code === 'AGENT_NOT_FOUND'
    return store.set({ page: isGone ? 'not-found' : 'unreachable' })
  }
  await chat.resume()
}

async function rate({ store, api }: ChatParts, messageId: string, feedback: Feedback): Promise<void> {
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
}

async function askForPerson(chat: ChatParts, begin: () => AbortSignal): Promise<void> {
  const { store, api, kept, page } = chat
  const { conversation, busy } = store.get()
  if (busy === 'sending') return
  const signal = begin()
  store.set({ busy: null, problem: null, view: 'chat' })
  try {
    const { conversationId } = await api.askForPerson(conversation?.id ?? null, page.address())
    if (signal.aborted) return
    kept.setConversationId(conversationId)
    await converse(chat, conversationId, signal)
  } catch (error) {
    if (!signal.aborted) store.set({ problem: problemOf(error, 'load', store.get().appearance) })
  }
}

/** Sends the message or loads the conversation again; or asks again what got no answer. */
function remedy(chat: Chat, begin: () => AbortSignal): void {
  const { problem, outgoing, messages, conversation } = chat.store.get()
  chat.store.set({ problem: null })
  if (problem?.remedy === 'send' && outgoing) void deliver(chat, outgoing, begin())
  else if (problem?.remedy === 'load') void chat.look()
  else if (problem?.remedy === 'ask') {
    const question = messages.findLast(({ role }) => role === 'user')
    if (!question) return
    // A question without a reply still awaits its answer, so it is sent again under the same id and not stored
    // twice.
    const isOpen = question === messages.at(-1)
    if (isOpen) void deliver(chat, sentBefore(question, conversation?.id ?? null), begin())
    else void chat.send(wordsOf(question))
  }
}

async function stop({ store, api }: ChatParts): Promise<void> {
  const { conversation } = store.get()
  if (!conversation) return
  store.set({ isStopping: true })
  try {
    await api.stop(conversation.id)
  } catch (error) {
    store.set({ isStopping: false, problem: problemOf(error, null, store.get().appearance) })
  }
}

/** Whether there is a message to send. A message cannot be sent while one of its files is being uploaded. */
export const hasSomethingToSend = ({ files }: Pick<State, 'files'>, text: string): boolean =>
  (text.trim() !== '' || files.length > 0) && files.every(({ sent }) => sent !== null)

/** Returns the text of a message, or the names of its files if it has no text. */
const wordsOf = ({ text, attachments }: Message): string =>
  text || attachments.map(({ name }) => name).join(', ')

/** Returns a stored message as one to be sent again. Because of the same id, the service answers the stored message. */
const sentBefore = (message: Message, conversationId: string | null): Outgoing => ({
  messageId: message.id,
  text: wordsOf(message),
  files: [],
  isSpoken: false,
  conversationId,
})
