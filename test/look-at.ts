import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { brokenRules } from './broken-rules.ts'

const LOOKS = [
  ['wide', 1280, 'light'],
  ['dark', 1280, 'dark'],
  ['phone', 390, 'light'],
] as const

/**
 * Fails if what a page shows now breaks a rule of accessibility or is too wide, on a desktop, in the dark and on a phone.
 * SCREENS names a folder for pictures of it.
 */
export async function lookAt(page: Page, name: string): Promise<void> {
  const before = page.viewportSize() ?? { width: 1280, height: 860 }
  const found: string[] = []
  for (const [look, width, colorScheme] of LOOKS) {
    await page.setViewportSize({ width, height: 860 })
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    for (const { id, nodes } of await brokenRules(page, { iframes: false }))
      found.push(`${look} ${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
    const overflow = Number(
      await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
    )
    if (overflow > 0) found.push(`${look} is too wide by ${overflow}`)
    const { SCREENS } = process.env
    if (SCREENS) await page.screenshot({ path: join(SCREENS, `${name}-${look}.png`) })
  }
  await page.setViewportSize(before)
  await page.emulateMedia({ colorScheme: null, reducedMotion: null })
  assert.deepEqual(found, [], name)
}
