import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { SMTPServer } from 'smtp-server'
import { brokenRules } from '../broken-rules.ts'
import { findBrowser } from '../find-browser.ts'
import { launchChromium } from '../launch-chromium.ts'
import { type OauthProvider, startOauthProvider } from '../oauth-provider.ts'
import { type Service, startService } from '../start.ts'
import { memberOf } from '../workspace.ts'
import { pageOf } from '../workspace-page.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'

const ADDRESS = 'support@shop.example'

describe('connecting a mailbox by OAuth 2 in the workspace', { skip }, () => {
  let service: Service
  let provider: OauthProvider
  let browser: Browser
  let page: Page
  let agentId: string
  const smtp = new SMTPServer({
    authMethods: ['XOAUTH2'],
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 100,
    onAuth({ username = '', accessToken = '' }, _session, done) {
      if (provider.accepts(accessToken, username)) done(null, { user: username })
      else done(null, { data: { status: '401', schemes: 'bearer' } })
    },
  })

  before(async () => {
    provider = await startOauthProvider()
    await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
    service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
    const client = await service.account()
    const owner = await memberOf(service, client.accountId, 'owner', { email: 'owner@shop.example' })
    agentId = (await client.request('POST', '/agents', { name: 'Lumi' })).body.id
    browser = await launchChromium()
    page = await pageOf(browser, service, owner)
  })
  after(async () => {
    await browser?.close()
    await service?.close()
    provider?.close()
    await new Promise<void>((resolve) => smtp.close(() => resolve()))
  })

  const mailPage = () => page.goto(`${service.url}/agents/${agentId}/deploy?tab=mail`)
  const field = (name: string) => page.getByLabel(name, { exact: true })

  async function fill(authorizationUrl: string): Promise<void> {
    await field('Sign in with').selectOption('other')
    await field('Address').fill(ADDRESS)
    await field('Page for people').fill(authorizationUrl)
    await field('Address of the tokens').fill(`${provider.url}/token`)
    await field('Client id').fill(provider.clientId)
    await field('Client secret').fill(provider.clientSecret)
    const sending = page.getByRole('group', { name: 'Sending (SMTP)' })
    await sending.getByLabel('Server').fill('127.0.0.1')
    await sending.getByLabel('Security').selectOption('none')
    await sending.getByLabel('Port').fill(String((smtp.server.address() as AddressInfo).port))
    await sending.getByLabel('User name').fill(ADDRESS)
    await page.getByRole('button', { name: 'Connect with the provider' }).click()
  }

  test('a large provider asks for no servers', async () => {
    await mailPage()
    await field('Sign in with').selectOption('google')
    await page.getByText(`${service.url}/mailbox-sign-in`).waitFor()
    assert.equal(await page.getByLabel('Server').count(), 0)
    await page.getByRole('button', { name: 'Connect with Google' }).waitFor()
    assert.deepEqual(await brokenRules(page), [])
    if (process.env.SCREENS) {
      await page.screenshot({ path: `${process.env.SCREENS}/google.png`, fullPage: true })
      await page.emulateMedia({ colorScheme: 'dark' })
      await page.setViewportSize({ width: 390, height: 844 })
      await page.screenshot({ path: `${process.env.SCREENS}/google-phone-dark.png`, fullPage: true })
      await page.emulateMedia({ colorScheme: 'light' })
      await page.setViewportSize({ width: 1280, height: 860 })
    }
  })

  test('a refusal is said in words, and nothing is connected', async () => {
    await mailPage()
    await fill(`${provider.url}/authorize?refuse=1`)
    await page.getByText('You have not permitted the access, so nothing was changed.').waitFor()
    if (process.env.SCREENS) await page.screenshot({ path: `${process.env.SCREENS}/refused.png` })
    await page.getByRole('link', { name: 'Back to the mailbox' }).click()
    await page.getByRole('button', { name: 'Connect and test' }).waitFor()
    assert.deepEqual(await service.ctx.db.selectFrom('email_connections').select('address').execute(), [])
  })

  test('the browser comes back to a connected mailbox, and the code is not in the address', async () => {
    await mailPage()
    await fill(`${provider.url}/authorize`)
    await page.getByText('Sending: it works.').waitFor()
    await page.getByRole('button', { name: 'Connect again with the provider' }).waitFor()
    assert.doesNotMatch(page.url(), /code|state/)
    if (process.env.SCREENS)
      await page.screenshot({ path: `${process.env.SCREENS}/connected.png`, fullPage: true })
    // The page that finished is of no use a second time.
    await page.goto(`${service.url}/mailbox-sign-in?code=x&state=y`)
    await page.getByText(/begun in another tab or has expired/).waitFor()
    await mailPage()
    await page.getByRole('button', { name: 'Disconnect' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Disconnect' }).click()
    await page.getByRole('button', { name: 'Connect with the provider' }).waitFor()
  })
})
