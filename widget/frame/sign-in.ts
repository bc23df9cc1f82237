import { ParleyError } from '../../client/parley-error.ts'
import type { ChatParts } from './chat-parts.ts'

type Deps = Pick<ChatParts, 'page' | 'kept' | 'api'>

/**
 * Returns a function that sends the page's token to the service, once per token, and forgets a visitor whom the site
 * has signed out. It resolves to whether the visitor has changed and never throws.
 */
export function createSignIn(): (needs: Deps) => Promise<boolean> {
  let brought: string | null | undefined
  return async ({ page, kept, api }) => {
    await page.told()
    const token = page.identity()
    if (token === brought) return false
    brought = token
    const before = kept.userId()
    try {
      if (token !== null) {
        const { userId } = await api.identify(token)
        if (before !== null && before !== userId) kept.setConversationId(null)
        kept.setUserId(userId)
        return before !== userId
      }
    } catch (error) {
      // biome-ignore lint/suspicious/noConsole: the console is where the site's developer looks
      console.error(`Parley: the visitor is not signed in. ${error instanceof Error ? error.message : ''}`)
      // The visitor cannot be identified while the service is unavailable, so the token is sent again later.
      if (!(error instanceof ParleyError) || error.status >= 500) {
        brought = undefined
        return false
      }
    }
    if (before !== null) kept.forget()
    return before !== null
  }
}
