import type { Page } from 'playwright-core'

/**
 * Returns the page's current HTML, or null when it is longer than `maxCharacters`. It is read in an isolated world,
 * so the page's scripts can neither detect this nor change the result.
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
