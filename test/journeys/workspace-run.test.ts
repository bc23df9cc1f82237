import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { decodeQR } from 'qr/decode.js'
import sharp from 'sharp'
import { brokenRules } from '../broken-rules.ts'
import { type MailServer, startMailServer } from '../fakes/mail-server.ts'
import { type ModelServer, startModelServer } from '../fakes/model-server.ts'
import { findBrowser } from '../find-browser.ts'
import { type ImapServer, startImapServer } from '../imap-server.ts'
import { keyboardOf } from '../keyboard.ts'
import { launchChromium } from '../launch-chromium.ts'
import { type Client, type Service, startService } from '../start.ts'
import { until } from '../until.ts'
import { memberOf, PASSWORD } from '../workspace.ts'
import { CHOSEN, pressTwice } from '../workspace-page.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'

const PATIENCE_MS = 120_000
const html = (title: string, text: string) =>
  `<!doctype html><html lang="en"><title>${title}</title><main><h1>${title}</h1><p>${text}</p></main></html>`

type Site = { url: string; release(): void; close(): Promise<void> }

/** A website with a page that does not exist, and one that is sent only when it is released. */
async function startSite(): Promise<Site> {
  let release = (): void => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const links = ['/care', '/gone', '/slow'].map((path) => `<a href="${path}">More of ${path}</a>`).join(' ')
  const server: Server = createServer(async ({ url }, response) => {
    if (url === '/slow') await held
    const pages: Record<string, string> = {
      '/': html('Lamps', `All about our lamps and what they can do for you. ${links}`),
      '/care': html('Care', 'Wipe each of the lamps with a dry cloth, once a week.'),
      '/slow': html('Prices', 'The Halo M costs 69 euros, and the Halo L costs 99 euros.'),
    }
    const page = pages[url ?? '']
    response.writeHead(page ? 200 : 404, { 'content-type': 'text/html' }).end(page ?? 'Nothing is here.')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    release,
    close: async () => {
      release()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

describe('a workspace that is managed without a terminal, by keyboard alone', { skip }, () => {
  let service: Service
  let models: ModelServer
  let site: Site
  let smtp: MailServer
  let browser: Browser
  let client: Client
  let owner: Page
  let keys: ReturnType<typeof keyboardOf>
  let agentId: string
  let siteId = ''

  before(async () => {
    models = await startModelServer()
    site = await startSite()
    smtp = await startMailServer()
    service = await startService({ ...models.settings, ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
    client = await service.account({ name: 'Bright Lamps' })
    agentId = (await client.request('POST', '/agents', { name: 'Lumi', visibility: 'public' })).body.id
    const { email } = await memberOf(service, client.accountId, 'owner')
    browser = await launchChromium()
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 } })
    context.setDefaultTimeout(PATIENCE_MS)
    owner = await context.newPage()
    keys = keyboardOf(owner)
    await owner.goto(`${service.url}/sign-in`)
    await keys.write(owner.getByLabel('Email'), email)
    await keys.write(owner.getByLabel('Password'), PASSWORD)
    await keys.use(owner.getByRole('button', { name: 'Sign in', exact: true }))
    await owner.getByRole('link', { name: 'Lumi' }).first().waitFor()
  })
  after(async () => {
    await browser?.close()
    await service?.close()
    await Promise.all([models?.close(), site?.close(), smtp?.close()])
  })

  const open = (path: string) => owner.goto(`${service.url}/agents/${agentId}${path}`)

  test('three files are dropped, and the broken one shows its error', async () => {
    await open('/sources')
    await owner.getByRole('heading', { name: 'It has read nothing yet' }).waitFor()
    const dataTransfer = await owner.evaluateHandle(`(() => {
      const data = new DataTransfer()
      data.items.add(new File(['Clean the lamp with a dry cloth.'], 'care.txt', { type: 'text/plain' }))
      data.items.add(new File(['%PDF-1.7 and no more'], 'broken.pdf', { type: 'application/pdf' }))
      data.items.add(new File(['# Prices\\n\\nHalo M: 69 euros.'], 'prices.md', { type: 'text/markdown' }))
      return data
    })()`)
    await owner.getByPlaceholder('Search by name').dispatchEvent('drop', { dataTransfer })
    for (const name of ['care.txt', 'prices.md'])
      await owner
        .getByRole('row', { name: new RegExp(name) })
        .getByText('Live')
        .waitFor()
    const broken = owner.getByRole('row', { name: /broken\.pdf/ })
    await broken.getByText('Failed').waitFor()
    assert.match(await broken.innerText(), /broken\.pdf\s+\S.{10,}/s)
    await keys.use(owner.getByRole('link', { name: 'broken.pdf' }))
    await keys.tab('History')
    await owner.getByRole('table').getByText('Failed').waitFor()
  })

  test('a website is crawled, and its pages appear meanwhile', async () => {
    await open('/sources')
    await keys.menu(owner.getByRole('button', { name: 'Add a source' }), 'Website')
    await keys.write(owner.getByLabel('Address'), site.url)
    await keys.use(owner.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }))
    await keys.use(owner.getByRole('link', { name: site.url }))
    const row = (path: string) => owner.getByRole('row', { name: new RegExp(`${path}\\b`) })
    await row('/care').getByText('Read').first().waitFor()
    await row('/slow').getByText('Waiting').waitFor()
    await owner
      .getByText(/ live, [0-9]+ to read$/)
      .first()
      .waitFor()
    site.release()
    await row('/slow').getByText('Waiting').waitFor({ state: 'detached' })
    const gone = owner.getByRole('row', { name: /404/ })
    await gone.getByText('Failed').waitFor()
    await keys.tab('Text')
    await owner.getByLabel('Text of the source').getByText('The Halo M costs 69 euros').waitFor()
    siteId = new URL(owner.url()).pathname.split('/').at(-1) ?? ''
  })

  test('a text is edited, and answers use its new version', async () => {
    const { body } = await client.request('POST', `/agents/${agentId}/sources`, {
      type: 'text',
      name: 'Warranty',
      content: 'The warranty is three years.',
    })
    await open(`/sources/${body.id}?tab=text`)
    await owner.getByLabel('Text of the source').getByText('three years').waitFor()
    await keys.use(owner.getByRole('button', { name: 'Edit' }))
    await keys.write(
      owner.getByRole('dialog').getByRole('textbox', { name: 'Text' }),
      'The warranty is five years.',
    )
    await keys.use(owner.getByRole('button', { name: 'Save and train' }))
    await owner.getByLabel('Text of the source').getByText('five years').waitFor()
  })

  test('the key that is created next to the examples works for their agent', async () => {
    await open('/deploy?tab=api')
    await keys.use(owner.getByRole('button', { name: 'Make a key' }))
    await keys.write(owner.getByLabel('Name', { exact: true }), 'Shop')
    await keys.use(owner.getByLabel('agents:read'), 'Space')
    await keys.use(owner.getByRole('button', { name: 'Make the key' }))
    const key = await owner.getByLabel('API key', { exact: true }).locator('pre').textContent()
    await keys.use(owner.getByRole('button', { name: 'I have it' }))
    const curl = (await owner.getByLabel('curl').locator('pre').textContent()) ?? ''
    const url = /https?:\S+\/chat/.exec(curl)?.[0].replace(/\/chat$/, '') ?? ''
    const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
    assert.equal(((await answer.json()) as { name: string }).name, 'Lumi')
  })

  test('styles are changed, shown in the preview before they are saved, and to visitors afterwards', async () => {
    await open('/deploy')
    await keys.reach(owner.getByRole('tab', { selected: true }))
    await pressTwice(owner, 'ArrowRight')
    await owner.getByRole('tab', { name: 'API', selected: true }).waitFor()
    await open('/deploy')
    const preview = owner.frameLocator('iframe')
    await keys.write(owner.getByLabel('Name in the chat'), 'Lumi of Bright Lamps')
    await preview.getByText('Lumi of Bright Lamps').first().waitFor()
    const visitor = await browser.newPage()
    await visitor.goto(`${service.url}/widget/${agentId}`)
    await visitor.getByLabel('Message', { exact: true }).waitFor()
    assert.equal(await visitor.getByText('Lumi of Bright Lamps').count(), 0)
    await keys.use(owner.getByRole('button', { name: 'Save the looks' }))
    await owner.getByText('Visitors see it within a minute').waitFor()
    await until('a visitor sees the new name', async () => {
      await visitor.reload()
      await visitor.getByLabel('Message', { exact: true }).waitFor()
      return (await visitor.getByText('Lumi of Bright Lamps').count()) > 0
    })
    await visitor.close()
  })

  test('a mailbox with a wrong password shows the error, and works with the right one', async (t) => {
    const imap: ImapServer | string = await startImapServer()
    if (typeof imap === 'string') return t.skip(imap)
    try {
      await open('/deploy?tab=mail')
      await keys.write(owner.getByLabel('Address', { exact: true }), 'support@shop.example')
      for (const [group, port, username] of [
        ['Receiving (IMAP)', imap.port, imap.username],
        ['Sending (SMTP)', smtp.port, 'user'],
      ] as const) {
        const server = owner.getByRole('group', { name: group })
        await keys.write(server.getByLabel('Server'), '127.0.0.1')
        await keys.choose(server.getByLabel('Security'), 'None')
        await keys.write(server.getByLabel('Port'), String(port))
        await keys.write(server.getByLabel('User name'), username)
        await keys.write(server.getByLabel('Password'), username === 'user' ? 'secret' : 'wrong')
      }
      const result = owner.getByRole('status', { name: 'Test of the connection' })
      await keys.use(owner.getByRole('button', { name: 'Connect and test' }))
      await result.getByText(/Receiving: .*refused the user name or the password/).waitFor()
      await result.getByText('Sending: it works.').waitFor()
      const receiving = owner.getByRole('group', { name: 'Receiving (IMAP)' })
      await keys.write(receiving.getByLabel('Password'), imap.password)
      await keys.use(owner.getByRole('button', { name: 'Save and test' }))
      await result.getByText('Receiving: it works.').waitFor()
      await result.getByText('Sending: it works.').waitFor()
      await keys.use(owner.getByRole('button', { name: 'Disconnect' }))
      await keys.use(owner.getByRole('alertdialog').getByRole('button', { name: 'Disconnect' }))
      await owner.getByRole('button', { name: 'Connect and test' }).waitFor()
    } finally {
      await imap.close()
    }
  })

  test('the list of conversations is filtered and exported', async () => {
    for (const message of ['Do zebras like lamps?', '=Is this a formula?']) {
      models.queue.push({ tokens: ['I do not know.'] })
      const sent = { message, stream: false, userId: 'maya-1' }
      assert.equal((await client.request('POST', `/agents/${agentId}/chat`, sent)).status, 200)
    }
    await service.ctx.indexer.run(service.ctx.db)
    await open('/conversations?query=zebras')
    const exporter = owner.getByRole('button', { name: 'Export what is listed' })
    const saved = owner.waitForEvent('download')
    await keys.menu(exporter, 'Table (CSV)')
    const text = await readFile(await (await saved).path(), 'utf8')
    assert.match(text, /Do zebras like lamps\?/)
    assert.doesNotMatch(text, /formula/)
    await owner.getByText('1 conversation exported').waitFor()
    await keys.use(owner.getByRole('button', { name: 'Filter' }))
    // Two filters in a row are both kept.
    const lists = ['Rating', 'Mood'].map((name) => owner.getByLabel(name))
    for (const list of lists) await list.waitFor()
    const [rating, mood] = await Promise.all(lists.map((list) => list.elementHandle()))
    assert.deepEqual(await owner.evaluate(CHOSEN, [rating, mood]), ['positive', 'positive'])
    await owner.getByRole('heading', { name: 'Nothing matches' }).waitFor()
    assert.deepEqual(await Promise.all(lists.map((list) => list.inputValue())), ['positive', 'positive'])
    await keys.reach(owner.getByLabel('From'))
    await owner.keyboard.type('01052026')
    await until('the filters', async () => /startDate=2026-01-05/.test(owner.url()))
    assert.equal(await owner.getByLabel('From').inputValue(), '2026-01-05')
    assert.match(owner.url(), /feedback=positive.*sentiment=positive/)
    await open('/conversations')
    const whole = owner.waitForEvent('download')
    await keys.menu(exporter, 'Table (CSV)')
    assert.match(await readFile(await (await whole).path(), 'utf8'), /'=Is this a formula\?/)
  })

  test('contacts are imported from a table and exported, and one of them is erased', async () => {
    await open('/contacts')
    await keys.use(owner.getByRole('button', { name: 'Import' }))
    const table = 'Id;Name;Email\r\nmaya-1;Maya Lindqvist;maya@example.com\r\n;Jonas Weber;not an address\r\n'
    const chooser = owner.waitForEvent('filechooser')
    await keys.use(owner.getByLabel('CSV file'))
    const file = { name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(table) }
    await (await chooser).setFiles(file)
    await keys.use(owner.getByRole('button', { name: 'Import 2 rows' }))
    await owner.getByText('1 contact added, 0 changed, 1 left out.').waitFor()
    await owner.getByRole('row', { name: /^3 email/ }).waitFor()
    await keys.use(owner.getByRole('button', { name: 'Done' }))
    await keys.use(owner.getByRole('button', { name: 'Maya Lindqvist' }))
    const saved = owner.waitForEvent('download')
    await keys.use(owner.getByRole('button', { name: 'Export this person' }))
    assert.match(await readFile(await (await saved).path(), 'utf8'), /zebras/)
    const erase = owner.getByRole('button', { name: 'Erase for good' })
    assert.equal(await erase.isDisabled(), true)
    await keys.write(owner.getByLabel('Type Maya Lindqvist to erase'), 'Maya Lindqvist')
    await keys.use(erase)
    await owner.getByText('Maya Lindqvist is erased: 2 conversations').waitFor()
    await owner.getByRole('heading', { name: 'No contact yet' }).waitFor()
    const { body } = await client.request('GET', `/agents/${agentId}/users/maya-1/conversations`)
    assert.deepEqual(body.data, [])
  })

  test('a member sets up the second factor with a QR code, and an unknown agent shows a page', async () => {
    await owner.goto(`${service.url}/workspace/account`)
    await keys.write(owner.getByLabel('Your password'), PASSWORD)
    await keys.use(owner.getByRole('button', { name: 'Set up a second factor' }))
    const picture = await owner.getByRole('img', { name: 'QR code for the authenticator' }).screenshot()
    const { data, info } = await sharp(picture).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
    const uri = await owner.getByRole('link', { name: 'open the app on this device' }).getAttribute('href')
    assert.match(uri ?? '', /^otpauth:/)
    assert.equal(decodeQR({ ...info, data }), uri)
    await owner.goto(`${service.url}/agents/nobody/sources`)
    await owner.getByRole('heading', { name: 'This agent does not exist' }).waitFor()
  })

  test('none of these pages breaks an accessibility rule, light or dark', async () => {
    const source = `/agents/${agentId}/sources/${siteId}`
    const paths = [
      ...['widget', 'page', 'api', 'messaging', 'mail'].map((tab) => `/agents/${agentId}/deploy?tab=${tab}`),
      ...['pages', 'text', 'chunks', 'history', 'cited'].map((tab) => `${source}?tab=${tab}`),
      `/agents/${agentId}/settings`,
      `/agents/${agentId}/contacts`,
      '/workspace?tab=general',
      '/workspace?tab=audit',
      '/agents/nobody',
    ]
    const found: string[] = []
    for (const path of paths) {
      await owner.goto(service.url + path)
      await owner.locator('main h1').first().waitFor()
      await owner.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
      for (const colorScheme of ['light', 'dark'] as const) {
        await owner.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        for (const { id, nodes } of await brokenRules(owner, { iframes: false }))
          found.push(
            `${colorScheme} ${path} ${id}: ${nodes.map(({ html: it }) => it.slice(0, 160)).join(' | ')}`,
          )
      }
    }
    assert.deepEqual(found, [])
  })
})
