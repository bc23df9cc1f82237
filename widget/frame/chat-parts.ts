import type { Api } from './api.ts'
import type { Files } from './files.ts'
import type { Kept } from './kept.ts'
import type { Page } from './page.ts'
import type { State } from './state.ts'
import type { Store } from './store.ts'

/** What the steps of a conversation work on. */
export type ChatParts = {
  store: Store<State>
  api: Api
  kept: Kept
  files: Files
  page: Page
  /** The shown conversation does not exist any more. */
  forgetConversation(): void
}
