import type { Api } from './api.ts'
import type { Files } from './files.ts'
import type { StoredChat } from './kept.ts'
import type { Page } from './page.ts'
import type { State } from './state.ts'
import type { Store } from './store.ts'

/** The parts of the chat that the steps of a conversation use. */
export type ChatParts = {
  store: Store<State>
  api: Api
  kept: StoredChat
  files: Files
  page: Page
  /** Closes the conversation on display, which no longer exists. */
  forgetConversation(): void
}
