import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Locator, Page } from 'playwright-core'
import { brokenRules } from '../broken-rules.ts'
import { findBrowser } from '../find-browser.ts'
import { launchChromium } from '../launch-chromium.ts'
import { type Desk, openDesk } from '../open-desk.ts'
import { type Service, startService } from '../start.ts'
import { until } from '../until.ts'
import { memberOf, type Worker } from '../workspace.ts'
import { pageOf } from '../workspace-page.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'

/** Clicks a button twice in one moment, as programs that help people do, for `evaluate`. */
const CLICKED_TWICE = new Function('button', 'button.click(); button.click()') as (button: unknown) => void

describe('people who click twice', { skip }, () => {
  let service: Service
  let browser: Browser
  let desk: Desk
  let owner: Worker
  let page: Page

  before(async () => {
    service = await startService()
    browser = await launchChromium()
    desk = await openDesk(service, ['Sam Lee'])
    owner = await memberOf(service, desk.client.accountId, 'owner')
    page = await pageOf(browser, service, owner)
    page.setDefaultTimeout(120_000)
  })
  after(async () => {
    await browser?.close()
    await service?.close()
  })

  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const WAYS: [name: string, click: (target: Locator) => Promise<void>][] = [
    ['a double-click', (target) => target.dblclick()],
    ['a slow double-click', (target) => target.dblclick({ delay: 120 })],
    ['two clicks of a program', (target) => target.evaluate(CLICKED_TWICE)],
    [
      'Enter and a click',
      async (target) => {
        await target.focus()
        await Promise.all([page.keyboard.press('Enter'), target.click({ timeout: 2_000 }).catch(() => {})])
      },
    ],
  ]

  /** Waits until nothing that was asked for is under way any more. */
  async function quiet(): Promise<void> {
    await page.waitForLoadState('networkidle').catch(() => {})
    await page.waitForTimeout(300)
  }

  for (const [way, click] of WAYS) {
    test(`${way} sends one reply`, async () => {
      const { ticketNumber } = await desk.open()
      await page.goto(`${service.url}/agents/${desk.agentId}/inbox?ticket=${ticketNumber}`)
      await page.getByLabel('Reply to the customer').fill('It is on its way.')
      await click(button('Send the reply'))
      const replies = async () =>
        (await desk.call('GET', `/tickets/${ticketNumber}/messages?types=reply`)).body.data.length as number
      await until('the reply', async () => (await replies()) > 0)
      await page.waitForTimeout(500)
      assert.equal(await replies(), 1)
    })

    test(`${way} creates one agent`, async () => {
      await page.goto(`${service.url}/agents/new`)
      const name = `Agent by ${way}`
      await page.getByLabel('Name').fill(name)
      await page.getByText('Written or pasted').click()
      await page.getByLabel('Text', { exact: true }).fill('Open from nine to five.')
      await click(button('Create the agent'))
      await page.getByRole('heading', { name: /Your agent is (learning|ready)/ }).waitFor()
      await quiet()
      const { data } = (await desk.client.request('GET', '/agents?limit=100')).body
      assert.equal(data.filter((one: { name: string }) => one.name === name).length, 1)
    })

    test(`${way} on a button that asks first does not answer the question`, async () => {
      const { key } = (await desk.client.request('POST', '/keys', { name: way, scopes: ['chat'] })).body
      await page.goto(`${service.url}/workspace?tab=keys`)
      await click(button(`Revoke ${way}`))
      const asked = page.getByRole('alertdialog', { name: `Revoke ${way}?` })
      await asked.waitFor()
      await quiet()
      await asked.waitFor()
      const use = () => service.anonymous('GET', '/agents', undefined, { authorization: `Bearer ${key}` })
      // The key lacks the scope, but it is not refused as unknown.
      assert.equal((await use()).status, 403)
      assert.deepEqual(await brokenRules(page, { iframes: false }), [])
      await asked.getByRole('button', { name: 'Revoke for good' }).click()
      await until('the end of the key', async () => (await use()).status === 401)
      await asked.waitFor({ state: 'detached' })
    })
  }

  test('a member whose response was lost presses again, and there is one agent', async () => {
    await page.goto(`${service.url}/agents/new`)
    await page.getByLabel('Name').fill('Lost')
    await page.getByText('Written or pasted').click()
    await page.getByLabel('Text', { exact: true }).fill('Open from nine to five.')
    let lost = 0
    await page.route('**/api/v2/agents', async (route) => {
      if (route.request().method() !== 'POST' || lost++ > 0) return route.continue()
      await route.fetch()
      return route.abort('connectionreset')
    })
    await button('Create the agent').click()
    await page.getByText('The service cannot be reached').waitFor()
    await button('Create the agent').click()
    await page.getByRole('heading', { name: /Your agent is (learning|ready)/ }).waitFor()
    await page.unroute('**/api/v2/agents')
    const { data } = (await desk.client.request('GET', '/agents?limit=100')).body
    assert.equal(data.filter((one: { name: string }) => one.name === 'Lost').length, 1)
    assert.equal(lost, 2)
  })

  test('a change of a role can be undone', async () => {
    const other = await memberOf(service, desk.client.accountId, 'viewer')
    await page.goto(`${service.url}/workspace`)
    const row = page.getByRole('row').filter({ hasText: other.email })
    await row.getByLabel('Role of viewer').selectOption('builder')
    await page.getByText('viewer has another role.').waitFor()
    await page.getByRole('button', { name: /^Undo/ }).click()
    const roleNow = async () => {
      const members = (await owner.request('GET', '/members')).body as { email: string; role: string }[]
      return members.find(({ email }) => email === other.email)?.role
    }
    await until('the earlier role', async () => (await roleNow()) === 'viewer')
  })
})
