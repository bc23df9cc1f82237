import type { Page } from 'playwright-core'

/**
 * The page's HTML as it stands, or null when it is longer than `maxCharacters`. Read in a world of its own: the page's
 * scripts can neither see it nor change what it says.
 */
export async function readDom(page: Page, maxCharacters: number): Promise<string | null> {
  const session = await page.context().newCDPSession(page)
  try {
    const { frameTree } = await session.send('Page.getFrameTree')
    const { executionContextId } = await session.send('Page.createIsolatedWorld', {
      frameId: frameTree.frame.id,
      worldName: 'reader',
    })
    const { result } = await session.send('Runtime.evaluate', {
      contextId: executionContextId,
      expression: `(() => {
        const html = String(document.documentElement?.outerHTML ?? '')
        return html.length > ${maxCharacters} ? null : html
      })()`,
      returnByValue: true,
    })
    return result.type === 'string' ? String(result.value) : null
  } finally {
    await session.detach().catch(() => {})
  }
}
