import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { type BesideWebsite, startBesideWebsite, type Websites } from '../beside-website.ts'
import { page as webPage } from '../fakes/web-site.ts'
import { findBrowser } from '../find-browser.ts'
import { keyboardOf } from '../keyboard.ts'
import { launchChromium } from '../launch-chromium.ts'
import { lookAt } from '../look-at.ts'
import type { Client } from '../start.ts'
import { memberOf } from '../workspace.ts'
import { pageOf } from '../workspace-page.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'

describe('websites that are hard to read, by keyboard alone', { skip }, () => {
  let home: BesideWebsite
  let client: Client
  let web: Websites
  let browser: Browser
  let page: Page

  before(async () => {
    home = await startBesideWebsite()
    ;({ client, web } = await home.newAgent())
    browser = await launchChromium()
    page = await pageOf(browser, home.service, await memberOf(home.service, client.accountId, 'owner'))
  })
  after(async () => {
    await browser?.close()
    await home?.close()
  })

  test('a calendar without end is shown with what was left out, and is read on at the press of a button', async () => {
    const { site } = home
    site.pages.set('/', webPage('Home', 'The marker amberley.', ['/dates?month=0']))
    site.rest = ({ url = '' }) => {
      const month = Number(url.split('=')[1])
      if (!url.startsWith('/dates?') || month > 80) return { status: 404 }
      return webPage(`Month ${month}`, `There are no events in month ${month}.`, [
        `/dates?month=${month + 1}`,
      ])
    }
    const source = await web.crawled(site.url)
    await page.goto(`${home.service.url}/agents/${web.agentId}/sources/${source.id}`)
    const paused = page.getByRole('list', { name: 'Addresses that are not read' })
    await paused.getByText(/like \/dates\?month=… (was|were) not read: they lead on and on/).waitFor()
    await lookAt(page, 'paused-addresses')
    await keyboardOf(page).use(paused.getByRole('button', { name: 'Read on' }))
    await page.getByText('They are read now, and in later crawls.').waitFor()
    await paused.waitFor({ state: 'detached' })
    assert.equal((await web.settled(source.id)).metadata.children.included, 82)
  })
})
