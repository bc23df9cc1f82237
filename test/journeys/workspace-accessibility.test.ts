import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWorkspaceHome } from '../../scripts/workspace-home.ts'
import { openWorkspacePage, workspacePages } from '../../scripts/workspace-pages.ts'
import { brokenRules } from '../broken-rules.ts'
import { findBrowser } from '../find-browser.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'

const PATIENCE_MS = 120_000

test('no page with data breaks an accessibility rule, light or dark, wide or narrow', {
  skip,
}, async () => {
  const home = await openWorkspaceHome()
  try {
    const context = await home.browser.newContext({ storageState: home.session, reducedMotion: 'reduce' })
    context.setDefaultTimeout(PATIENCE_MS)
    const page = await context.newPage()
    const found: string[] = []
    for (const [name, shown] of Object.entries(workspacePages(home))) {
      await page.setViewportSize({ width: 1440, height: 900 })
      await openWorkspacePage(page, home, shown)
      for (const [width, colorScheme] of [
        [1440, 'light'],
        [1440, 'dark'],
        [390, 'light'],
      ] as const) {
        await page.setViewportSize({ width, height: 900 })
        await page.emulateMedia({ colorScheme })
        for (const { id, nodes } of await brokenRules(page, { iframes: false })) {
          const parts = nodes.map(({ html }) => html.slice(0, 160)).join(' | ')
          found.push(`${name} ${width} ${colorScheme} ${id}: ${parts}`)
        }
        const overflow = Number(
          await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
        )
        if (overflow > 0) found.push(`${name} is wider than ${width} by ${overflow}`)
      }
    }
    assert.deepEqual(found, [])
  } finally {
    await home.close()
  }
})
