import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { createLink, linkTo } from '../../server/accounts/links/links.ts'
import { createAccount } from '../../server/accounts/records/accounts.ts'
import { brokenRules } from '../broken-rules.ts'
import { startMessagingServer } from '../fakes/messaging-server.ts'
import { startModelServer } from '../fakes/model-server.ts'
import { startNotionServer } from '../fakes/notion-server.ts'
import { block } from '../fakes/notion-wire.ts'
import { findBrowser } from '../find-browser.ts'
import { launchChromium } from '../launch-chromium.ts'
import { type Service, startService } from '../start.ts'
import { until } from '../until.ts'
import { CLICKED } from '../workspace-page.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'

const PASSWORD = 'a few words in a row'
const PATIENCE_MS = 120_000

describe('the workspace', { skip }, () => {
  let service: Service
  let models: Awaited<ReturnType<typeof startModelServer>>
  let browser: Browser
  let owner: Page
  let agentId: string
  const contexts: BrowserContext[] = []

  before(async () => {
    models = await startModelServer()
    service = await startService({
      OPENAI_BASE_URL: `${models.url}/v1`,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODEL: 'fake-model',
      ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    })
    browser = await launchChromium()
    owner = await open()
  })
  after(async () => {
    await browser?.close()
    await service?.close()
    await models?.close()
  })

  async function open(): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 } })
    context.setDefaultTimeout(PATIENCE_MS)
    contexts.push(context)
    return context.newPage()
  }

  const go = (page: Page, name: string) =>
    page.getByRole('navigation', { name: 'Workspace' }).getByRole('link', { name, exact: true }).click()

  test('from the set-up link to the first cited answer', async () => {
    const accountId = await createAccount(service.ctx.db, 'Default')
    const { token } = await createLink(service.ctx.db, { accountId, kind: 'set-up', createdBy: 'operator' })
    await owner.goto(linkTo(service.url, 'set-up', token))
    await owner.getByLabel('Workspace').fill('Bright Lamps')
    await owner.getByLabel('Your name').fill('Ada Okafor')
    await owner.getByLabel('Email').fill('ada@example.com')
    await owner.getByLabel('Password').fill(PASSWORD)
    await owner.getByRole('button', { name: 'Create the workspace' }).click()
    await owner.getByRole('heading', { name: 'No agent yet' }).waitFor()
    await owner.getByRole('link', { name: 'New agent' }).click()
    await owner.getByLabel('Name').fill('Lumi')
    await owner.getByText('Written or pasted').click()
    await owner.getByLabel('Text', { exact: true }).last().fill('The Halo lamp has a warranty of five years.')
    await owner.getByRole('button', { name: 'Create the agent' }).click()
    models.queue.push({ tokens: ['Five years [1].'] })
    await owner.getByLabel('Question').fill('How long is the warranty of the Halo lamp?')
    await owner.keyboard.press('Enter')
    await owner.getByRole('button', { name: 'Source 1' }).click()
    await owner.getByRole('blockquote').getByText('warranty of five years').waitFor()
    await owner.getByRole('link', { name: 'Put it on your website' }).click()
    await owner.getByRole('button', { name: 'Make it public' }).click()
    await owner.getByText('widget.js').waitFor()
    agentId = new URL(owner.url()).pathname.split('/')[2] ?? ''
  })

  test('of several files, only the broken one fails, and shows the reason', async () => {
    await go(owner, 'Sources')
    await owner.getByLabel('Files to add').setInputFiles([
      { name: 'care.txt', mimeType: 'text/plain', buffer: Buffer.from('Clean the lamp with a dry cloth.') },
      { name: 'broken.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7 and no more') },
      { name: 'prices.md', mimeType: 'text/markdown', buffer: Buffer.from('# Prices\n\nHalo M: 69 euros.') },
    ])
    for (const name of ['care.txt', 'prices.md']) {
      const row = owner.getByRole('row', { name: new RegExp(name) })
      const seen = async () => `the list shows: ${await owner.getByRole('main').innerText()}`
      await row
        .getByText('Live')
        .waitFor()
        .catch(async (cause: unknown) => assert.fail(`${await seen()}\n${cause}`))
    }
    await owner.getByText('Failed').first().waitFor()
  })

  test('what is added while the list is being loaded for the first time is in it', async () => {
    // The response to the first request for the list is from before the upload, and comes after it.
    let isSent = false
    const address = '**/api/v2/agents/*/sources?*'
    await owner.route(address, async (route) => {
      const response = await route.fetch()
      while (!isSent) await new Promise((resolve) => setTimeout(resolve, 20))
      await route.fulfill({ response })
    })
    await owner.reload()
    await owner
      .getByLabel('Files to add')
      .setInputFiles([
        { name: 'bulbs.txt', mimeType: 'text/plain', buffer: Buffer.from('It takes E14 bulbs.') },
      ])
    await owner.getByLabel('Dismiss bulbs.txt').waitFor()
    isSent = true
    await owner.getByRole('row', { name: /bulbs.txt/ }).waitFor()
    await owner.unrouteAll({ behavior: 'wait' })
  })

  test('a visitor is handed over to the team, and a colleague replies in another browser', async () => {
    const visitor = await open()
    await visitor.goto(`${service.url}/widget/${agentId}`)
    models.queue.push({ tokens: ['I have nothing about that.'] })
    await visitor.getByLabel('Message', { exact: true }).fill('My lamp flickers, what now?')
    await visitor.getByRole('button', { name: 'Send', exact: true }).click()
    await visitor.getByText('nothing about that').waitFor()
    await go(owner, 'Conversations')
    // The newest conversation is listed first as soon as it is indexed, which the service does every few seconds.
    const row = owner.getByRole('button', { name: /Website chat/ })
    await until('the conversation in the list', async () => {
      await service.ctx.indexer.run(service.ctx.db)
      return (await row.count()) > 0
    })
    await row.click()
    await owner.getByRole('button', { name: 'Take over' }).click()
    await owner.getByRole('link', { name: 'Reply in the inbox' }).click()
    await owner.getByLabel('Reply to the customer').fill('Ada here. We send you a **new bulb**.')
    await owner.getByRole('button', { name: 'Send the reply' }).click()
    await visitor.getByText('new bulb').waitFor()
    await visitor.getByLabel('Message', { exact: true }).fill('Thank you, Ada!')
    await visitor.getByRole('button', { name: 'Send', exact: true }).click()
    // The message appears without a reload.
    await owner.getByLabel('Messages').getByText('Thank you, Ada!').waitFor()
    await owner.getByRole('button', { name: 'Solve', exact: true }).click()
    await owner.getByRole('button', { name: 'Open again' }).waitFor()
    await visitor.context().close()
  })

  test('a key is created, used and revoked', async () => {
    await owner.goto(`${service.url}/workspace?tab=keys`)
    await owner.getByRole('button', { name: 'New key' }).click()
    await owner.getByLabel('Name').fill('Website backend')
    await owner.getByLabel('Everything in this workspace').check()
    await owner.getByRole('button', { name: 'Make the key' }).click()
    const key = await owner.getByLabel('API key', { exact: true }).locator('pre').textContent()
    const use = () =>
      fetch(`${service.url}/api/v2/agents`, { headers: { authorization: `Bearer ${key?.trim()}` } })
    assert.equal((await use()).status, 200)
    await owner.getByRole('button', { name: 'I have it' }).click()
    await owner.getByRole('button', { name: 'Revoke Website backend' }).click()
    await owner.getByRole('button', { name: 'Revoke for good' }).click()
    await owner.getByText('refused from now on').waitFor()
    while ((await use()).status !== 401);
  })

  test('pages of Notion and solved tickets become sources', async () => {
    const notion = await startNotionServer()
    try {
      const id = randomUUID()
      const blocks = [block('paragraph', 'Wipe a lamp with a dry cloth.')]
      notion.pages.set(id, { id, title: 'Lamp care', edited: '2026-01-05T08:00:00.000Z', blocks })
      await owner.goto(`${service.url}/agents/${agentId}/sources`)
      await owner.getByRole('button', { name: 'Add a source' }).click()
      await owner.getByRole('menuitem', { name: /^Pages of Notion/ }).click()
      const dialog = owner.getByRole('dialog', { name: 'Pages of Notion' })
      await dialog.getByText('Another server').click()
      await dialog.getByLabel('Address').fill(notion.url)
      await dialog.getByLabel('Secret of the integration').fill('wrong')
      await dialog.getByRole('button', { name: 'Connect' }).click()
      await dialog.getByRole('alert').waitFor()
      await dialog.getByLabel('Secret of the integration').fill('secret-token')
      await dialog.getByRole('button', { name: 'Connect' }).click()
      await dialog.getByRole('button', { name: 'Add Lamp care' }).click()
      await dialog.getByRole('button', { name: 'Add Lamp care' }).getByText('Added').waitFor()
      await dialog.getByLabel('Search by title').fill('unknown')
      await dialog.getByRole('button', { name: 'Search' }).click()
      await dialog.getByText('No page has that title').waitFor()
      await owner.keyboard.press('Escape')
      const row = owner.getByRole('row', { name: /Lamp care/ })
      await row.getByText('Live').waitFor()
    } finally {
      await notion.close()
    }
    const openTickets = async (): Promise<Locator> => {
      await owner.getByRole('button', { name: 'Add a source' }).click()
      await owner.getByRole('menuitem', { name: /^Solved tickets/ }).click()
      return owner.getByRole('dialog').getByLabel('Answer from solved tickets')
    }
    await (await openTickets()).check()
    await owner.getByText('Solved tickets become sources within minutes.').waitFor()
    await owner.reload()
    const box = await openTickets()
    assert.equal(await box.isChecked(), true)
    await box.uncheck()
    await owner.getByText('Solved tickets are out of the answers.').waitFor()
    await owner.keyboard.press('Escape')
  })

  test('a checkbox that saves at once shows the last choice, however late the service answers', async () => {
    const sources = `${service.url}/agents/${agentId}/sources`
    const settings = `${service.url}/agents/${agentId}/settings`
    const openTickets = async (): Promise<Locator> => {
      await owner.getByRole('button', { name: 'Add a source' }).click()
      await owner.getByRole('menuitem', { name: /^Solved tickets/ }).click()
      return owner.getByLabel('Answer from solved tickets')
    }
    const weekly = async (): Promise<Locator> => owner.getByLabel('Read websites and connected pages again')
    for (const [page, path, find] of [
      [sources, 'ticket-knowledge', openTickets],
      [settings, 'auto-retrain', weekly],
    ] as const) {
      await owner.goto(page)
      const box = await find()
      await box.waitFor()
      const held = Promise.withResolvers<void>()
      const sent: unknown[] = []
      const isRefused = (): boolean => sent.length === 4
      const url = `**/${path}`
      await owner.route(url, async (route) => {
        if (route.request().method() !== 'PUT') return route.continue()
        sent.push(route.request().postDataJSON().enabled)
        if (isRefused()) return route.abort()
        await held.promise
        await route.continue()
      })
      // What the page shows is read in the same event, before anything else can run.
      const click = () => box.evaluate(CLICKED)
      assert.deepEqual([await click(), await click(), await click()], [true, false, true], path)
      held.resolve()
      await until('the last choice is saved', async () => sent.length === 3)
      assert.deepEqual(sent, [true, false, true])
      const done = owner.getByRole('region', { name: 'Notices' })
      await done
        .getByText(path === 'auto-retrain' ? 'Saved.' : /^Solved tickets become/)
        .first()
        .waitFor()
      assert.equal(await box.isChecked(), true)
      await owner.reload()
      const stored = await find()
      await stored.and(owner.locator(':checked')).waitFor()
      assert.equal(await click(), false)
      await done.getByRole('button', { name: 'Dismiss' }).waitFor()
      await stored.and(owner.locator(':checked')).waitFor()
      await owner.unroute(url)
    }
  })

  test('a business account is connected with a form, and a page without a mailbox logs no error', async () => {
    const fake = await startMessagingServer()
    try {
      const numbers = [{ id: 'n-1', phone: '+1 555-000-1111', name: 'Shop' }]
      fake.accounts.set('111', { token: 'token-1', numbers, templates: [] })
      const logged: string[] = []
      owner.on('console', (message) => {
        if (message.type() === 'error') logged.push(message.text())
      })
      await owner.goto(`${service.url}/agents/${agentId}/deploy?tab=mail`)
      await owner.getByRole('button', { name: 'Connect and test' }).waitFor()
      assert.deepEqual(logged, [])
      await owner.getByRole('tab', { name: 'Messaging' }).click()
      await owner.getByLabel('Business account ID').fill('111')
      await owner.getByLabel('Access token').fill('wrong')
      await owner.getByLabel('App secret').fill('app-secret')
      await owner.getByLabel('Verify token').fill('verify-me')
      await owner.getByText('Another server of the WhatsApp API').click()
      await owner.getByLabel('Address', { exact: true }).fill(fake.url)
      // The form is replaced once the connection has been read again, and what is typed after that must stay.
      const connection = '**/messaging/connection'
      await owner.route(connection, async (route) => {
        if (route.request().method() === 'GET') await new Promise((resolve) => setTimeout(resolve, 1_000))
        await route.continue()
      })
      await owner.getByRole('button', { name: 'Connect and test' }).click()
      const result = owner.getByRole('status', { name: 'Test of the connection' })
      await result.getByText(/^111: /).waitFor()
      await owner.getByLabel('Access token').fill('token-1')
      await owner.unroute(connection)
      await owner.getByRole('button', { name: 'Save and test' }).click()
      await result.getByText('111: it works, with Shop').waitFor()
      await owner.getByRole('group', { name: /Shop/ }).waitFor()
      await owner.getByRole('button', { name: 'Disconnect' }).click()
      await owner.getByRole('alertdialog').getByRole('button', { name: 'Disconnect' }).click()
      await owner.getByRole('group', { name: 'New account' }).waitFor()
    } finally {
      await fake.close()
    }
  })

  test('the whole account is exported as NDJSON', async () => {
    await owner.goto(`${service.url}/workspace?tab=general`)
    const saved = owner.waitForEvent('download')
    await owner.getByRole('button', { name: 'Export everything' }).click()
    const lines = (await readFile(await (await saved).path(), 'utf8')).trim().split('\n')
    const types = new Set(lines.map((line) => JSON.parse(line).type))
    for (const type of ['agent', 'source', 'conversation']) assert.ok(types.has(type), [...types].join())
    await owner.getByText('Everything of this workspace is in the file.').waitFor()
  })

  test('a support member sees what the role permits, also through the API', async () => {
    await owner.goto(`${service.url}/workspace`)
    await owner.getByRole('button', { name: 'Invite' }).click()
    await owner.getByLabel('Email').fill('sam@example.com')
    await owner.getByRole('button', { name: 'Make the invitation' }).click()
    const link = await owner.getByLabel('Link of the invitation').locator('pre').textContent()
    await owner.getByRole('button', { name: 'Done' }).click()
    const sam = await open()
    await sam.goto(link ?? '')
    await sam.getByLabel('Your name').fill('Sam Lee')
    await sam.getByLabel('Password').fill(PASSWORD)
    await sam.getByRole('button', { name: 'Join' }).click()
    await sam.getByRole('link', { name: 'Lumi' }).click()
    const nav = sam.getByRole('navigation', { name: 'Workspace' })
    await nav.getByRole('link', { name: 'Inbox' }).waitFor()
    for (const name of ['Deploy', 'Settings', 'Instructions', 'Workspace']) {
      assert.equal(await nav.getByRole('link', { name, exact: true }).count(), 0, name)
    }
    const status = await sam.evaluate(
      "fetch('/api/v2/keys', { headers: { 'x-parley-session': '1' } }).then(({ status }) => status)",
    )
    assert.equal(status, 403)
    await sam.goto(`${service.url}/workspace?tab=members`)
    await sam.context().close()
  })

  test('no page breaks an accessibility rule, light or dark', async () => {
    const pages = ['', '/playground', '/sources', '/search', '/instructions', '/inbox', '/conversations']
    const more = ['/contacts', '/insights', '/deploy', '/settings']
    const paths = [
      '/agents',
      '/agents/new',
      '/workspace?tab=members',
      '/workspace?tab=keys',
      '/workspace?tab=usage',
      '/workspace?tab=models',
      '/workspace?tab=audit',
      '/workspace/account',
      ...[...pages, ...more].map((path) => `/agents/${agentId}${path}`),
    ]
    const found: string[] = []
    for (const path of paths) {
      await owner.goto(service.url + path)
      await owner.locator('main h1').first().waitFor()
      await owner.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
      for (const colorScheme of ['light', 'dark'] as const) {
        await owner.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        for (const { id, nodes } of await brokenRules(owner, { iframes: false })) {
          found.push(
            `${colorScheme} ${path} ${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
          )
        }
      }
    }
    assert.deepEqual(found, [])
  })
})
