import { copyFile, mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { openWorkspaceHome } from './workspace-home.ts'

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
const agent = `/agents/${home.agentId}`

const heading = (page: Page) => page.locator('main h1').first().waitFor()
const ANSWER = [
  '**Five years**, for each Halo lamp [1]. After that ',
  'we repair it for the price of the parts.',
]

/** The path of each page, and what to do on it before the screenshot is taken. */
const PAGES: Record<string, [path: string, prepare?: (page: Page) => Promise<unknown>]> = {
  agents: ['/agents'],
  'new-agent': ['/agents/new'],
  overview: [agent],
  playground: [
    `${agent}/playground`,
    async (page) => {
      home.models.queue.push({ tokens: ANSWER, delayMs: 60 })
      await page.getByLabel('Question').fill('How long is the warranty of a Halo lamp?')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: /^Source 1/ }).click()
      await page.getByText('stop', { exact: true }).waitFor()
    },
  ],
  compare: [`${agent}/playground?mode=compare`],
  actions: [`${agent}/actions`],
  'new-action': [`${agent}/actions/new`],
  procedures: [`${agent}/procedures`],
  'new-procedure': [`${agent}/procedures/new`],
  evaluations: [`${agent}/evaluations`],
  sources: [`${agent}/sources`, (page) => page.getByRole('row').nth(4).waitFor()],
  search: [
    `${agent}/search`,
    async (page) => {
      await page.getByLabel('Question').fill('Can I return a used lamp?')
      await page.keyboard.press('Enter')
      await page.getByText('60 days').first().waitFor()
    },
  ],
  instructions: [`${agent}/instructions`],
  inbox: [
    `${agent}/inbox`,
    async (page) => {
      await page.getByRole('button', { name: /My lamp flickers/ }).click()
      await page.getByText('new driver').waitFor()
    },
  ],
  conversations: [
    `${agent}/conversations`,
    async (page) => {
      await page.getByRole('button', { name: /How long is the warranty/ }).click()
      await page.getByText('for each Halo lamp').waitFor()
    },
  ],
  contacts: [`${agent}/contacts`, (page) => page.getByText('Maya Lindqvist').waitFor()],
  insights: [`${agent}/insights`, (page) => page.getByRole('img', { name: /at most/ }).waitFor()],
  deploy: [
    `${agent}/deploy`,
    (page) => page.frameLocator('iframe').getByText('What would you like to know?').waitFor(),
  ],
  'deploy-api': [`${agent}/deploy?tab=api`],
  'deploy-messaging': [`${agent}/deploy?tab=messaging`],
  'deploy-mail': [`${agent}/deploy?tab=mail`],
  settings: [`${agent}/settings`],
  members: ['/workspace'],
  keys: ['/workspace?tab=keys'],
  usage: ['/workspace?tab=usage'],
  models: ['/workspace?tab=models'],
  audit: ['/workspace?tab=audit'],
  'workspace-data': ['/workspace?tab=general'],
  account: ['/workspace/account'],
}

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
    for (const [name, [path, prepare]] of Object.entries(PAGES)) {
      await page.goto(home.service.url + path)
      await heading(page)
      await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
      await prepare?.(page)
      const file = `${name}-${width}-${colorScheme}`
      await page.screenshot({ path: join(folder, `${file}.png`), animations: 'disabled' })
      const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: 70 })
      await writeFile(join(screens, 'pages', `${file}.webp`), Buffer.from(data, 'base64'))
      const shown = SHOWN[file]
      if (shown) await copyFile(join(folder, `${file}.png`), join(screens, `${shown}.png`))
    }
    await context.close()
  }
}
await home.close()
console.log(`docs/screens/pages has every page; the same pictures as PNG stand in ${folder}.`)
