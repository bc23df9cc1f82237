import { copyFile, mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openWorkspaceHome } from './workspace-home.ts'
import { openWorkspacePage, workspacePages } from './workspace-pages.ts'

/**
 * Part of `npm run screens`. Takes screenshots of each page of the workspace in desktop and phone size, in the light
 * and the dark theme, and writes them to docs/screens/pages. Those that the documentation shows are copied to
 * docs/screens as PNG.
 */
const SHOWN: Record<string, string> = {
  'playground-1440-light': 'workspace',
  'sources-1440-light': 'workspace-sources',
  'conversations-1440-dark': 'workspace-conversations-dark',
  'insights-1440-light': 'workspace-insights',
  'deploy-1440-light': 'workspace-deploy',
  'overview-390-dark': 'workspace-phone-dark',
  'playground-390-light': 'workspace-phone',
}
const screens = join(import.meta.dirname, '../docs/screens')
const folder = await mkdtemp(join(tmpdir(), 'parley-screens-'))
await mkdir(join(screens, 'pages'), { recursive: true })
const home = await openWorkspaceHome()
for (const [width, height] of [
  [1440, 900],
  [390, 844],
] as const) {
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await home.browser.newContext({
      viewport: { width, height },
      colorScheme,
      reducedMotion: 'reduce',
      storageState: home.session,
    })
    const page = await context.newPage()
    const devtools = await context.newCDPSession(page)
    for (const [name, shown] of Object.entries(workspacePages(home))) {
      await openWorkspacePage(page, home, shown)
      const file = `${name}-${width}-${colorScheme}`
      await page.screenshot({ path: join(folder, `${file}.png`), animations: 'disabled' })
      const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: 70 })
      await writeFile(join(screens, 'pages', `${file}.webp`), Buffer.from(data, 'base64'))
      const kept = SHOWN[file]
      if (kept) await copyFile(join(folder, `${file}.png`), join(screens, `${kept}.png`))
    }
    await context.close()
  }
}
await home.close()
console.log(`docs/screens/pages has every page; the same pictures as PNG stand in ${folder}.`)
