import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { startBesideMailServer } from '../beside-mail-server.ts'
import { type FakeImapServer, startFakeImapServer } from '../fakes/imap-server.ts'
import { findBrowser } from '../find-browser.ts'
import { keyboardOf } from '../keyboard.ts'
import { launchChromium } from '../launch-chromium.ts'
import { lookAt } from '../look-at.ts'
import { connectTestMailbox, mail, readMailboxes, type TestMailbox } from '../mailbox.ts'
import { until } from '../until.ts'
import { memberOf } from '../workspace.ts'
import { pageOf } from '../workspace-page.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'

describe('the page of a mailbox on good and bad days, by keyboard alone', { skip }, () => {
  let home: Awaited<ReturnType<typeof startBesideMailServer>>
  let imap: FakeImapServer
  let browser: Browser
  let page: Page
  let box: TestMailbox
  let keys: ReturnType<typeof keyboardOf>

  before(async () => {
    home = await startBesideMailServer()
    imap = await startFakeImapServer()
    browser = await launchChromium()
    const client = await home.service.account()
    const login = { host: '127.0.0.1', security: 'none', username: 'user', password: 'secret' }
    box = await connectTestMailbox(home.service, client, {
      smtpPort: home.server.port,
      imap: { ...login, port: imap.port },
    })
    page = await pageOf(browser, home.service, await memberOf(home.service, client.accountId, 'owner'))
    keys = keyboardOf(page)
    await page.goto(`${home.service.url}/agents/${box.agentId}/deploy?tab=mail`)
  })
  after(async () => {
    await browser?.close()
    await imap?.close()
    await home?.close()
  })

  const mailbox = () => page.getByRole('region', { name: 'Mailbox' })
  const badge = (words: string) => mailbox().locator('header').getByText(words, { exact: true }).waitFor()
  const read = () => readMailboxes(home.service)

  test('a mailbox that stops working says so and why, until it works again', async () => {
    await keys.use(page.getByRole('button', { name: 'Test again' }))
    await badge('Connected')
    imap.troubles.set('LOGIN', 'refuse')
    await read()
    await page.reload()
    await badge('Not working')
    await mailbox()
      .getByText('Receiving: 127.0.0.1 refused the user name or the password: not now.')
      .first()
      .waitFor()
    await lookAt(page, 'mailbox-fails')
    await page.goto(`${home.service.url}/agents/${box.agentId}`)
    const health = page.getByRole('region', { name: 'Health' })
    await health.getByText(/The mailbox support@shop.example does not work/).waitFor()
    imap.troubles.clear()
    await read()
    await page.goto(`${home.service.url}/agents/${box.agentId}/deploy?tab=mail`)
    await badge('Connected')
    assert.equal(await mailbox().getByText('refused the user name').count(), 0)
  })

  test('a mail that was kept silent is answered by a press of a button', async () => {
    home.models.otherwise(() => ({ tokens: ['Two years.'] }))
    imap.mails.push(mail('How long is the warranty?', { Subject: 'Warranty', Precedence: 'bulk' }))
    await read()
    await page.reload()
    const row = page.getByRole('row').filter({ hasText: 'Warranty' })
    await row.getByText('A program wrote it').waitFor()
    assert.deepEqual(await box.deliveries(), [])
    await keys.use(row.getByRole('button', { name: 'Let the agent answer Warranty' }))
    await page.getByText('The agent answers in a moment.').waitFor()
    await page.getByText('Every email so far was one to answer.').waitFor()
    await lookAt(page, 'silent-answered')
    await until('the answer', async () => {
      await box.send()
      return home.server.mails.some(
        ({ to, raw }) => to.includes('ann@example.com') && raw.includes('Two years.'),
      )
    })
    const [conversation] = await box.conversations()
    await page.goto(`${home.service.url}/agents/${box.agentId}/conversations?open=${conversation?.id}`)
    await page.getByRole('region', { name: 'Messages' }).getByText('Two years.').waitFor()
  })
})
