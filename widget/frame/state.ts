import type { Appearance, Conversation, Message, Outgoing, SentFile, Source } from './types.ts'

/** A file that the visitor has picked for the next message; `sent` is null while it is being uploaded. */
export type PickedFile = { key: string; name: string; sent: SentFile | null }

/** Something went wrong, and what can be done about it. */
export type Problem = {
  sentence: string
  /** send: the same message again; ask: the same question as a new message; load: look again. */
  remedy: 'send' | 'ask' | 'load' | null
}

export type State = {
  page: 'loading' | 'ready' | 'not-found' | 'unreachable'
  appearance: Appearance | null
  view: 'chat' | 'conversations' | 'details'
  conversation: Pick<Conversation, 'id' | 'status' | 'help'> | null
  /** While an earlier conversation is fetched. */
  isLoading: boolean
  messages: Message[]
  outgoing: Outgoing | null
  /** What has come of the answer so far, behind what is stored of the message. */
  live: { messageId: string; text: string; sources: Source[] } | null
  /** acting: the page runs an action of the agent. */
  busy: 'sending' | 'answering' | 'acting' | null
  isStopping: boolean
  connection: 'fine' | 'lost'
  problem: Problem | null
  /** In this conversation the visitor has sent the form. */
  hasLeftDetails: boolean
  /** The visitor has conversations that can be listed. */
  isKnown: boolean
  isNoticeDismissed: boolean
  /** What is typed and not sent. */
  draft: string
  files: PickedFile[]
  /** Why a file could not be picked. */
  fileProblem: string | null
  /** For who does not see that a file has been uploaded. */
  fileNews: string
  /** The chat covers a small screen. */
  isPhone: boolean
  /** That of the page around the chat; null: it names none. */
  language: string | null
}

/** Of a conversation in which nothing has been said yet. */
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
