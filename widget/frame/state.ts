import type { Appearance, Conversation, Message, Outgoing, SentFile, Source } from './types.ts'

/** A file that the visitor has picked for the next message; `sent` is null while it is being uploaded. */
export type PickedFile = { key: string; name: string; sent: SentFile | null }

/** A problem, and what the visitor can do about it. */
export type Problem = {
  sentence: string
  /**
   * `send` sends the same message again, `ask` asks the same question as a new message, and `load` reloads the
   * conversation.
   */
  remedy: 'send' | 'ask' | 'load' | null
}

export type State = {
  page: 'loading' | 'ready' | 'not-found' | 'unreachable'
  appearance: Appearance | null
  view: 'chat' | 'conversations' | 'details'
  conversation: Pick<Conversation, 'id' | 'status' | 'help'> | null
  /** Whether an earlier conversation is being loaded. */
  isLoading: boolean
  messages: Message[]
  outgoing: Outgoing | null
  /** The streamed part of the answer so far, which follows the stored part of the message. */
  live: { messageId: string; text: string; sources: Source[] } | null
  /** `acting` means that the page is running an action of the agent. */
  busy: 'sending' | 'answering' | 'acting' | null
  isStopping: boolean
  connection: 'fine' | 'lost'
  problem: Problem | null
  /** Whether the visitor has sent the contact form in this conversation. */
  hasLeftDetails: boolean
  /** Whether the visitor has conversations that can be listed. */
  isKnown: boolean
  isNoticeDismissed: boolean
  /** Text that has been typed but not sent. */
  draft: string
  files: PickedFile[]
  /** Why a file could not be picked. */
  fileProblem: string | null
  /** Announces to screen readers that a file has been uploaded. */
  fileNews: string
  /** Whether the chat covers a small screen. */
  isPhone: boolean
  /** The language of the embedding page, or null if it declares none. */
  language: string | null
}

/** The state of a conversation without messages. */
export const emptyTalk = {
  view: 'chat',
  conversation: null,
  isLoading: false,
  messages: [],
  outgoing: null,
  live: null,
  busy: null,
  problem: null,
  hasLeftDetails: false,
} satisfies Partial<State>

export const initialState: State = {
  ...emptyTalk,
  page: 'loading',
  appearance: null,
  isStopping: false,
  connection: 'fine',
  isKnown: false,
  isNoticeDismissed: false,
  draft: '',
  files: [],
  fileProblem: null,
  fileNews: '',
  isPhone: false,
  language: null,
}
