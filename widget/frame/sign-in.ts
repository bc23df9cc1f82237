import { ParleyError } from '../../client/parley-error.ts'
import type { ChatParts } from './chat-parts.ts'

type Needs = Pick<ChatParts, 'page' | 'kept' | 'api'>

/**
 * Brings the token of the page to the service, once; a visitor whom the site has signed out is forgotten. Resolves to
 * whether the visitor is another one than before. Never throws.
 */
export function createSignIn(): (needs: Needs) => Promise<boolean> {
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
      // biome-ignore lint/suspicious/noConsole: the developer of the site looks there
      console.error(`Parley: the visitor is not signed in. ${error instanceof Error ? error.message : ''}`)
      // It cannot be said who this is while the service cannot be reached.
      if (!(error instanceof ParleyError) || error.status >= 500) {
        brought = undefined
        return false
      }
    }
    if (before !== null) kept.forget()
    return before !== null
  }
}
