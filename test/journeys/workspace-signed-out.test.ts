import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { brokenRules } from '../broken-rules.ts'
import { findBrowser } from '../find-browser.ts'
import { launchChromium } from '../launch-chromium.ts'
import { type Desk, openDesk } from '../open-desk.ts'
import { type Service, startService } from '../start.ts'
import { until } from '../until.ts'
import { memberOf, PASSWORD, type Worker } from '../workspace.ts'
import { pageOf } from '../workspace-page.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'

describe('people who are signed out', { skip }, () => {
  let service: Service
  let browser: Browser
  let desk: Desk
  let owner: Worker

  before(async () => {
    service = await startService()
    browser = await launchChromium()
    desk = await openDesk(service, ['Sam Lee'])
    owner = await memberOf(service, desk.client.accountId, 'owner', { email: 'olga@example.com' })
  })
  after(async () => {
    await browser?.close()
    await service?.close()
  })

  /**
   * Ends the session as its end after 14 days, or somebody who ends it elsewhere, does, and then does something on the
   * page. What the page reads by itself is held back meanwhile, since it would open the dialog as well.
   */
  async function afterTheEnd(page: Page, act: () => Promise<void>): Promise<void> {
    const opened = Promise.withResolvers<void>()
    await page.route('**/api/v2/**', async (route) => {
      if (route.request().method() === 'GET') await opened.promise
      await route.continue()
    })
    await service.ctx.db.deleteFrom('login_sessions').execute()
    service.ctx.sessions.forget()
    await act()
    await dialog(page).waitFor()
    opened.resolve()
    await page.unrouteAll({ behavior: 'wait' })
  }

  const signedIn = async (): Promise<Page> =>
    pageOf(browser, service, await memberOf(service, desk.client.accountId, 'owner'))

  const dialog = (page: Page) => page.getByRole('dialog', { name: 'Sign in again' })

  async function signInAgain(page: Page): Promise<void> {
    await page.locator(':focus').and(dialog(page).getByLabel('Password')).waitFor()
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press('Enter')
    await dialog(page).waitFor({ state: 'detached' })
  }

  test('every address of the workspace leads to the sign-in page, once', async () => {
    const asked = await pageOf(browser, service)
    await asked.goto(`${service.url}/sign-in`)
    await asked.getByRole('heading', { name: 'Sign in' }).waitFor()
    const paths = (await asked.evaluate('Object.keys(__TSR_ROUTER__.routesByPath)')) as string[]
    await asked.context().close()
    assert.ok(paths.length > 20, String(paths))
    const ids: Record<string, string> = { $agentId: desk.agentId }
    for (const path of paths) {
      const address = path.replaceAll(/\$\w+/g, (name) => ids[name] ?? 'none')
      const isPublic = ['/sign-in', '/setup', '/invite', '/forgot', '/reset'].includes(path)
      const wanted = isPublic ? address : `${address}?tab=keys&q=a%26b#end`
      const page = await pageOf(browser, service)
      // A page that is stuck answers nothing any more.
      page.setDefaultTimeout(120_000)
      await page.goto(service.url + wanted)
      await page.locator('main h1').waitFor()
      const shown = new URL(page.url())
      if (isPublic) assert.equal(shown.pathname, path)
      else {
        await page.getByRole('heading', { name: 'Sign in' }).waitFor()
        assert.deepEqual([shown.pathname, shown.searchParams.get('to')], ['/sign-in', wanted], path)
      }
      await page.context().close()
    }
  })

  test('signing in leads to where the person was going', async () => {
    for (const wanted of [`/agents/${desk.agentId}/inbox?ticket=1`, '/workspace?tab=keys', '/']) {
      const page = await pageOf(browser, service)
      page.setDefaultTimeout(120_000)
      await page.goto(service.url + wanted)
      await page.getByLabel('Email').fill(owner.email)
      await page.getByLabel('Password').fill(PASSWORD)
      await page.keyboard.press('Enter')
      await page.getByRole('navigation', { name: 'Workspace' }).waitFor()
      // The first page leads on to the list of agents.
      const shown = wanted === '/' ? '/agents' : wanted
      await page.waitForURL(({ pathname, search }) => pathname + search === shown)
      await page.context().close()
    }
  })

  test('a session that ends while instructions are written loses nothing', async () => {
    const page = await signedIn()
    await page.goto(`${service.url}/agents/${desk.agentId}/instructions`)
    const field = page.getByLabel('Instructions', { exact: true })
    await field.fill('Answer in two sentences.')
    await afterTheEnd(page, () => page.getByRole('button', { name: 'Save', exact: true }).click())
    assert.deepEqual(await brokenRules(page, { iframes: false }), [])
    await signInAgain(page)
    const told = async () =>
      (await desk.client.request('GET', `/agents/${desk.agentId}`)).body.instructions as string
    await until('the instructions', async () => (await told()) === 'Answer in two sentences.')
    await page.context().close()
  })

  test('a reply is sent once, after the person has signed in again', async () => {
    const { ticketNumber } = await desk.open({
      subject: 'Late',
      description: 'Where is it?',
      customer: { email: 'eve@example.org' },
    })
    const page = await signedIn()
    await page.goto(`${service.url}/agents/${desk.agentId}/inbox?ticket=${ticketNumber}`)
    const field = page.getByLabel('Reply to the customer')
    await field.fill('It is on its way.')
    await afterTheEnd(page, () => page.getByRole('button', { name: 'Send the reply' }).click())
    // Whoever wants to look at the page first can, and what was written is still there.
    await page.keyboard.press('Escape')
    await dialog(page).waitFor({ state: 'detached' })
    assert.equal(await field.inputValue(), 'It is on its way.')
    await page.getByRole('button', { name: 'Send the reply' }).click()
    await signInAgain(page)
    await page.getByRole('region', { name: 'Write' }).getByLabel('Reply to the customer').waitFor()
    const replies = async () =>
      (await desk.call('GET', `/tickets/${ticketNumber}/messages?types=reply`)).body.data as unknown[]
    await until('the reply', async () => (await replies()).length > 0)
    assert.equal((await replies()).length, 1)
    await until('an empty field', async () => (await field.inputValue()) === '')
    await page.context().close()
  })
})
