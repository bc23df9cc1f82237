import type { Appearance, Conversation, Message, Outgoing, Source } from './types.ts'

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
  conversation: Pick<Conversation, 'id' | 'status'> | null
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
}

export const initialState: State = {
  page: 'loading',
  appearance: null,
  view: 'chat',
  conversation: null,
  isLoading: false,
  messages: [],
  outgoing: null,
  live: null,
  busy: null,
  isStopping: false,
  connection: 'fine',
  problem: null,
  hasLeftDetails: false,
  isKnown: false,
  isNoticeDismissed: false,
}
