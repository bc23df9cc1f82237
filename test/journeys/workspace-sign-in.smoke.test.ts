import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { codeOf } from '../authenticator.ts'
import { type MailServer, startMailServer } from '../fakes/mail-server.ts'
import { type OidcProvider, startOidcProvider } from '../fakes/oidc-provider.ts'
import { findBrowser } from '../find-browser.ts'
import { keyboardOf } from '../keyboard.ts'
import { launchChromium } from '../launch-chromium.ts'
import { type Client, type Service, startService } from '../start.ts'
import { until } from '../until.ts'
import { memberOf, PASSWORD } from '../workspace.ts'
import { pageOf } from '../workspace-page.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'

describe('signing in by keyboard alone', { skip }, () => {
  let service: Service
  let browser: Browser
  let client: Client
  let mail: MailServer
  let provider: OidcProvider

  before(async () => {
    mail = await startMailServer()
    provider = await startOidcProvider('parley')
    // The service sends its address to the provider and in mails, so the port has to be known before it starts.
    const port = await freePort()
    service = await startService(
      {
        PUBLIC_URL: `http://127.0.0.1:${port}`,
        OIDC_ISSUER: provider.issuer,
        OIDC_CLIENT_ID: 'parley',
        OIDC_CLIENT_SECRET: 'secret of parley',
        OIDC_NAME: 'Example ID',
        SMTP_URL: `smtp://127.0.0.1:${mail.port}?security=none`,
        MAIL_FROM: 'parley@parley.example',
      },
      undefined,
      { port },
    )
    browser = await launchChromium()
    client = await service.account()
  })
  after(async () => {
    await browser?.close()
    await service?.close()
    await provider?.close()
    await mail?.close()
  })

  const inside = (page: Page) =>
    page
      .getByRole('heading', { name: /No agent yet|Agents/ })
      .first()
      .waitFor()

  /** Fills in the sign-in form, whose first field has the focus. */
  async function enter(page: Page, email: string, password = PASSWORD): Promise<void> {
    await page.locator(':focus').and(page.getByLabel('Email')).waitFor()
    await page.keyboard.type(email)
    await page.keyboard.press('Tab')
    await page.keyboard.type(password)
    await page.keyboard.press('Enter')
  }

  test('no parameter of the sign-in page leads to another site', async () => {
    const { email } = await memberOf(service, client.accountId, 'viewer')
    for (const to of [
      '//evil.example',
      '/\t/evil.example',
      '/.//evil.example',
      '/\\evil.example',
      'https://evil.example',
    ]) {
      const page = await pageOf(browser, service)
      const left: string[] = []
      await page.route(
        ({ hostname }) => hostname === 'evil.example',
        (route) => {
          left.push(route.request().url())
          return route.abort()
        },
      )
      await page.goto(`${service.url}/sign-in?to=${encodeURIComponent(to)}`)
      await enter(page, email)
      await page.waitForURL((url) => url.pathname !== '/sign-in')
      assert.deepEqual([left, new URL(page.url()).origin], [[], service.url], to)
      await page.context().close()
    }
  })

  test('a second factor is added and required', async () => {
    const worker = await memberOf(service, client.accountId, 'owner')
    const page = await pageOf(browser, service, worker)
    await page.goto(`${service.url}/workspace/account`)
    const section = page.getByRole('region', { name: 'Second factor' })
    const keys = keyboardOf(page)
    await keys.write(section.getByLabel('Your password'), PASSWORD)
    await page.keyboard.press('Enter')
    const uri = (await section.getByRole('link').first().getAttribute('href')) ?? ''
    const code = codeOf(uri)
    await keys.write(section.getByLabel('Code', { exact: true }), code)
    await page.keyboard.press('Enter')
    await section.getByRole('button', { name: 'Remove the second factor' }).waitFor()
    const again = await pageOf(browser, service)
    await again.goto(`${service.url}/sign-in`)
    await enter(again, worker.email)
    await again.getByRole('heading', { name: 'One more step' }).waitFor()
    await again.keyboard.type(code)
    await again.keyboard.press('Enter')
    // The code has been used to add the factor.
    await again.getByRole('alert').waitFor()
    await keyboardOf(again).use(again.getByRole('button', { name: 'Sign in again' }))
    await enter(again, worker.email)
    await again.getByRole('heading', { name: 'One more step' }).waitFor()
    await again.keyboard.type(codeOf(uri, 1))
    await again.keyboard.press('Enter')
    await inside(again)
  })

  test('a forgotten password is reset with a mailed link', async () => {
    const { email } = await memberOf(service, client.accountId, 'admin')
    const page = await pageOf(browser, service)
    await page.goto(`${service.url}/sign-in`)
    const keys = keyboardOf(page)
    await keys.use(page.getByRole('link', { name: 'Forgot your password?' }))
    await page.getByRole('heading', { name: 'Forgot your password?' }).waitFor()
    await keys.write(page.getByLabel('Email'), email)
    await page.keyboard.press('Enter')
    const text = await until('the mail', () => mail.mails.at(-1)?.raw.replaceAll('=\r\n', ''))
    const link = /http:\/\/127\.0\.0\.1:\d+\/reset#[\w-]{43}/.exec(text)?.[0] ?? ''
    await page.goto(link)
    await keys.write(page.getByLabel('Password').first(), 'a password from the mail')
    await page.keyboard.press('Enter')
    const again = await pageOf(browser, service)
    await until('the new password', async () => {
      const answer = await service.anonymous(
        'POST',
        '/sign-in',
        { email, password: 'a password from the mail' },
        { origin: service.url, 'x-parley-session': '1' },
      )
      return answer.status === 200
    })
    await again.goto(`${service.url}/sign-in`)
    await enter(again, email, 'a password from the mail')
    await inside(again)
  })

  test('a member signs in with a provider', async () => {
    const worker = await memberOf(service, client.accountId, 'builder', { email: 'pat@example.com' })
    provider.person = { ...provider.person, sub: 'person-2', email: worker.email, email_verified: true }
    const page = await pageOf(browser, service)
    await page.goto(`${service.url}/sign-in`)
    await keyboardOf(page).use(page.getByRole('button', { name: 'Continue with Example ID' }))
    await inside(page)
  })
})

async function freePort(): Promise<number> {
  const { createServer } = await import('node:net')
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  server.close()
  return typeof address === 'object' && address ? address.port : 0
}
