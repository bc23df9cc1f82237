import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { startBesideMailServer } from '../beside-mail-server.ts'
import { findBrowser } from '../find-browser.ts'
import { keyboardOf } from '../keyboard.ts'
import { launchChromium } from '../launch-chromium.ts'
import { lookAt } from '../look-at.ts'
import { connectTestMailbox, headerOf, mail, type TestMailbox } from '../mailbox.ts'
import { until } from '../until.ts'
import { memberOf } from '../workspace.ts'
import { pageOf } from '../workspace-page.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'

describe('the mail of a team, by keyboard alone', { skip }, () => {
  let home: Awaited<ReturnType<typeof startBesideMailServer>>
  let browser: Browser
  let box: TestMailbox
  let page: Page
  let keys: ReturnType<typeof keyboardOf>
  let holdSeconds = 1

  before(async () => {
    home = await startBesideMailServer()
    browser = await launchChromium()
    const client = await home.service.account()
    box = await connectTestMailbox(home.service, client, { smtpPort: home.server.port, mode: 'tickets' })
    page = await pageOf(browser, home.service, await memberOf(home.service, client.accountId, 'owner'))
    keys = keyboardOf(page)
    // Ten seconds are over before a busy machine has looked at the page.
    await page.route(/\/held-/, async (route) => {
      const body = route.request().postDataJSON()
      if (body === null) return route.continue()
      assert.equal(body.holdSeconds, 10)
      await route.continue({ postData: JSON.stringify({ ...body, holdSeconds }) })
    })
    await page.goto(`${home.service.url}/agents/${box.agentId}/inbox`)
    await page.getByRole('heading', { name: 'Nobody is waiting' }).waitFor()
  })
  after(async () => {
    await browser?.close()
    await home?.close()
  })

  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
  const dialog = (name: string) => page.getByRole('dialog', { name })
  const tickets = () => page.getByRole('region', { name: 'Tickets' })
  const about = (text: string) => page.getByRole('status').filter({ hasText: text })
  const open = async (subject: string) => {
    await keys.pick(
      tickets().getByRole('listitem'),
      tickets().getByRole('button').filter({ hasText: subject }),
    )
    await page.getByRole('heading', { level: 2, name: subject, exact: true }).waitFor()
  }
  /** Resolves with the first mail of this subject that the server has received. */
  const sent = (subject: string) =>
    until(`the mail ${subject}`, async () => {
      await box.send()
      return home.server.mails.find(({ raw }) => headerOf(raw, 'Subject') === subject)
    })
  const namesIn = async (fields: readonly string[], within: ReturnType<typeof dialog>) =>
    Object.fromEntries(
      await Promise.all(
        fields.map(async (name) => [name, await within.getByLabel(name, { exact: true }).inputValue()]),
      ),
    )

  test('a new mail has Cc, Bcc and files, comes back within ten seconds, and is sent after that', async () => {
    await keys.use(button('New email'))
    const form = dialog('New email')
    await keys.write(form.getByLabel('To', { exact: true }), 'Dora <dora@example.com>')
    await keys.write(form.getByLabel('Cc', { exact: true }), 'bob@example.com')
    await keys.write(form.getByLabel('Bcc'), 'boss@shop.example')
    await keys.write(form.getByLabel('Subject'), 'Your prices')
    await keys.write(form.getByLabel('Text'), 'Hear they are.')
    await form
      .getByLabel('Files to attach')
      .setInputFiles({ name: 'prices.csv', mimeType: 'text/csv', buffer: Buffer.from('1,2') })
    await form.getByRole('button', { name: 'Remove prices.csv' }).waitFor()
    await lookAt(page, 'new-mail')
    holdSeconds = 60
    await keys.use(form.getByRole('button', { name: 'Send the email' }))
    await about('Sending the email').waitFor()
    await lookAt(page, 'new-mail-held')
    await keys.use(button('Undo'))
    await form.getByRole('button', { name: 'Remove prices.csv' }).waitFor()
    assert.deepEqual(await namesIn(['Cc', 'Bcc (only your team sees it)', 'Subject'], form), {
      Cc: 'bob@example.com',
      'Bcc (only your team sees it)': 'boss@shop.example',
      Subject: 'Your prices',
    })
    assert.deepEqual(home.server.mails, [])
    holdSeconds = 1
    await keys.write(form.getByLabel('Text'), 'Here they are.')
    await keys.use(form.getByRole('button', { name: 'Send the email' }))
    const { to, raw } = await sent('Your prices')
    assert.deepEqual(to.toSorted(), ['bob@example.com', 'boss@shop.example', 'dora@example.com'])
    assert.match(raw, /Here they are\.[\s\S]*filename=prices\.csv/)
    assert.doesNotMatch(raw, /boss@shop/)
    await tickets().getByText('Your prices').waitFor()
    await about('Sending the email').waitFor({ state: 'detached' })
    assert.equal(home.server.mails.length, 1)
  })

  test('a reply goes to all, comes back, and goes to whom was chosen', async () => {
    await box.receive(
      mail('<p>The <b>lamp</b> is broken.</p><img src="https://tracker.example/t.gif" alt="">', {
        Subject: 'Broken lamp',
        Cc: 'Carl <carl@example.com>',
        'Content-Type': 'text/html; charset=utf-8',
      }),
    )
    await tickets().getByText('Broken lamp').waitFor()
    await open('Broken lamp')
    const write = page.getByRole('region', { name: 'Write' })
    await write.getByText('Cc: carl@example.com').waitFor()
    await keys.use(write.getByRole('button', { name: 'Change the recipients' }))
    await keys.write(write.getByLabel('Bcc'), 'boss@shop.example')
    await keys.write(write.getByLabel('Reply to the customer'), 'We send a knew one.')
    holdSeconds = 60
    await keys.use(write.getByRole('button', { name: 'Send the reply' }))
    await about('Sending the reply').waitFor()
    await lookAt(page, 'reply-held')
    await keys.use(button('Undo'))
    await write.getByText('Bcc: boss@shop.example').waitFor()
    assert.equal(await write.getByLabel('Reply to the customer').inputValue(), 'We send a knew one.')
    await keys.use(write.getByRole('button', { name: 'Reply to one' }))
    await keys.use(write.getByRole('button', { name: 'Reply all' }))
    await write.getByText('Cc: carl@example.com').waitFor()
    holdSeconds = 1
    await keys.write(write.getByLabel('Reply to the customer'), 'We send a new one.')
    await keys.press('Control+Enter')
    const { to } = await sent('Re: Broken lamp')
    assert.deepEqual(to.toSorted(), ['ann@example.com', 'carl@example.com'])
    await page.getByRole('article').filter({ hasText: 'We send a new one.' }).waitFor()
  })

  test('the original is shown without its pictures, in the ticket and in the conversation', async () => {
    await keys.use(button('Show the original'))
    const frame = page.frameLocator('iframe[title="Original email"]')
    await frame.getByText('lamp').waitFor()
    assert.equal(await frame.locator('img[src*=tracker]').count(), 0)
    await button('Show images').waitFor()
    await lookAt(page, 'original')
    await keys.use(page.getByRole('link', { name: 'The whole conversation' }))
    const messages = page.getByRole('region', { name: 'Messages' })
    await messages.getByText('From: Ann <ann@example.com> · To: support@shop.example').waitFor()
    await messages.getByText('To: Ann <ann@example.com> · Cc: Carl <carl@example.com>').waitFor()
    await keys.use(button('Show the original'))
    await frame.getByText('lamp').waitFor()
    await lookAt(page, 'conversation')
  })

  test('a message is forwarded with Cc, Bcc and a note, and comes back as well', async () => {
    await page.goto(`${home.service.url}/agents/${box.agentId}/inbox`)
    await open('Broken lamp')
    const first = page.getByRole('article', { name: 'Message of Ann' })
    await keys.use(first.getByRole('button', { name: 'Forward' }))
    const form = dialog('Forward the message')
    await keys.write(form.getByLabel('To', { exact: true }), 'factory@example.net')
    await keys.write(form.getByLabel('Cc', { exact: true }), 'eva@example.net')
    await keys.write(form.getByLabel('Note'), 'Can you help?')
    await lookAt(page, 'forward')
    holdSeconds = 60
    await keys.use(form.getByRole('button', { name: 'Forward it' }))
    await about('Sending the forward of ticket').waitFor()
    await lookAt(page, 'forward-held')
    await keys.use(button('Undo'))
    assert.deepEqual(await namesIn(['Cc', 'Note'], form), { Cc: 'eva@example.net', Note: 'Can you help?' })
    holdSeconds = 1
    await keys.write(form.getByLabel('Bcc'), 'boss@shop.example')
    await keys.use(form.getByRole('button', { name: 'Forward it' }))
    const { to, raw } = await sent('Fwd: Broken lamp')
    assert.deepEqual(to.toSorted(), ['boss@shop.example', 'eva@example.net', 'factory@example.net'])
    assert.match(raw, /Can you help\?/)
    await page.getByRole('article').filter({ hasText: 'Forwarded the message of Ann' }).waitFor()
  })

  test('what the server refuses says so at its message, and can be sent again', async () => {
    home.server.troubles.push({ code: 550, text: '5.1.1 No such user here' })
    await box.receive(mail('Are you open?', { From: 'Max <max@example.com>', Subject: 'Opening' }))
    await tickets().getByText('Opening').waitFor()
    await open('Opening')
    const write = page.getByRole('region', { name: 'Write' })
    await keys.write(write.getByLabel('Reply to the customer'), 'From nine to five.')
    await keys.press('Control+Enter')
    const reply = page.getByRole('article').filter({ hasText: 'From nine to five.' })
    await reply.waitFor()
    await box.send()
    await reply.getByText(/Not delivered: .*No such user here/).waitFor()
    await lookAt(page, 'not-delivered')
    await keys.use(reply.getByRole('button', { name: 'Send again' }))
    await sent('Re: Opening')
    await reply.getByText('Not delivered').waitFor({ state: 'detached' })
  })

  test('spam leaves the inbox, and its sender is blocked until that is undone', async () => {
    const spammer = { From: 'Win <win@spam.example>', Subject: 'You won' }
    await box.receive(mail('Click here.', spammer))
    await tickets().getByText('You won').waitFor()
    await open('You won')
    await keys.use(
      page.getByRole('region', { name: 'Ticket', exact: true }).getByRole('button', { name: 'Spam' }),
    )
    const form = dialog('Mark the ticket as spam?')
    await keys.use(form.getByLabel('Block win@spam.example'), 'Space')
    await lookAt(page, 'spam')
    await keys.use(form.getByRole('button', { name: 'Mark as spam' }))
    await tickets().getByText('You won').waitFor({ state: 'detached' })
    await keys.use(tickets().getByRole('button', { name: /^Spam/ }))
    await tickets().getByText('You won').waitFor()
    await box.receive(mail('Click again.', { ...spammer, Subject: 'You won again' }))
    await page.goto(`${home.service.url}/agents/${box.agentId}/deploy?tab=mail`)
    const row = page.getByRole('row').filter({ hasText: 'You won again' })
    await row.getByText('The sender is blocked').waitFor()
    await keys.use(button('Unblock win@spam.example'))
    await page.getByText('Nobody is blocked.').waitFor()
    await keys.write(page.getByLabel('Address or domain'), 'spam.example')
    await keys.press('Enter')
    await button('Unblock spam.example').waitFor()
    await lookAt(page, 'silent-and-blocked')
    await keys.use(row.getByRole('button', { name: 'Make a ticket of You won again' }))
    await page.getByText('The email is a ticket now.').waitFor()
    await page.getByText('Every email so far was one to answer.').waitFor()
    await page.goto(`${home.service.url}/agents/${box.agentId}/inbox`)
    await tickets().getByText('You won again').waitFor()
  })
})
