import assert from 'node:assert/strict'
import { request as ask, createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { type OidcProvider, startOidcProvider } from '../fakes/oidc-provider.ts'
import { findBrowser } from '../find-browser.ts'
import { launchChromium } from '../launch-chromium.ts'
import { failedStart, type Home, newHome, parley, type Running, spawnService } from '../spawn-service.ts'
import { until } from '../until.ts'
import { PASSWORD } from '../workspace.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'

const PREFIX = '/parley'
const PATIENCE_MS = 120_000

type Proxy = {
  /** The address of its root; the service is below it. */
  origin: string
  /** Where the service listens. */
  target: string
  /** The status and the path of every response of the service. */
  answered: string[]
  /** The requested paths that are outside the prefix. */
  outside: string[]
  close(): void
}

/** Starts a reverse proxy that serves the service below a prefix, which it strips or passes on. */
async function startProxy(strips: boolean): Promise<Proxy> {
  const server = createServer((request, response) => {
    const { url = '/', method, headers } = request
    if (!url.startsWith(`${PREFIX}/`)) {
      proxy.outside.push(url)
      return void response.writeHead(404).end('another application')
    }
    const path = strips ? url.slice(PREFIX.length) : url
    const passed = ask(`${proxy.target}${path}`, { method, headers }, (answer) => {
      proxy.answered.push(`${answer.statusCode} ${url}`)
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    passed.on('error', () => response.destroy())
    response.on('close', () => passed.destroy())
    request.pipe(passed)
  })
  const proxy: Proxy = {
    origin: await listen(server),
    target: '',
    answered: [],
    outside: [],
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
  return proxy
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a path that the service itself uses is refused at the start', async (t) => {
  const home = await newHome()
  t.after(() => home.remove())
  const { code, stderr } = await failedStart({ ...home.env, PUBLIC_URL: 'https://example.com/docs/' })
  assert.equal(code, 78)
  assert.match(stderr, /PUBLIC_URL: its path cannot be \/docs/)
})

for (const strips of [true, false]) {
  describe(`below a path, behind a proxy that ${strips ? 'strips it' : 'passes it on'}`, { skip }, () => {
    let proxy: Proxy
    let provider: OidcProvider
    let home: Home
    let env: Record<string, string>
    let service: Running
    let browser: Browser
    let site: Server
    let root: string
    let agentId: string
    let key: string

    before(async () => {
      proxy = await startProxy(strips)
      root = proxy.origin + PREFIX
      provider = await startOidcProvider('parley')
      provider.person = { sub: 'ada', email: 'ada@example.com', email_verified: true, name: 'Ada Okafor' }
      home = await newHome()
      env = {
        ...home.env,
        PUBLIC_URL: `${root}/`,
        OIDC_ISSUER: provider.issuer,
        OIDC_CLIENT_ID: 'parley',
        OIDC_CLIENT_SECRET: 'secret of parley',
        OIDC_NAME: 'Example ID',
        RATE_LIMIT: '10000/10',
      }
      service = await spawnService(env)
      proxy.target = service.url
      browser = await launchChromium()
    })
    after(async () => {
      await browser?.close()
      site?.close()
      proxy?.close()
      await service?.kill('SIGTERM')
      await provider?.close()
      await home?.remove()
    })

    async function open(): Promise<{ context: BrowserContext; page: Page }> {
      const context = await browser.newContext({ viewport: { width: 1280, height: 860 } })
      context.setDefaultTimeout(PATIENCE_MS)
      return { context, page: await context.newPage() }
    }
    const nav = (page: Page) => page.getByRole('navigation', { name: 'Workspace' })
    const pathOf = (page: Page) => page.url().slice(proxy.origin.length)

    test('an owner sets up the workspace, makes an agent, asks it and signs in at deep links', async () => {
      const link = /Set-up link .*: (\S+)/.exec(service.output)?.[1] ?? ''
      key = /API key .*: (\S+)/.exec(service.output)?.[1] ?? ''
      assert.ok(link.startsWith(`${root}/setup#`), link)
      const { context, page } = await open()
      await page.goto(link)
      await page.getByLabel('Workspace').fill('Bright Lamps')
      await page.getByLabel('Your name').fill('Ada Okafor')
      await page.getByLabel('Email').fill('ada@example.com')
      await page.getByLabel('Password').fill(PASSWORD)
      await page.getByRole('button', { name: 'Create the workspace' }).click()
      await page.getByRole('link', { name: 'New agent' }).first().click()
      assert.equal(pathOf(page), `${PREFIX}/agents/new`)
      await page.getByLabel('Name').fill('Lumi')
      await page.getByText('Written or pasted').click()
      await page.getByLabel('Text', { exact: true }).fill('The Halo lamp has a warranty of five years.')
      await page.getByRole('button', { name: 'Create the agent' }).click()
      await page.getByRole('link', { name: 'Put it on your website' }).click()
      agentId = new RegExp(`^${PREFIX}/agents/([\\w-]+)/deploy$`).exec(pathOf(page))?.[1] ?? ''
      assert.ok(agentId, page.url())
      await page.getByRole('button', { name: 'Make it public' }).click()
      await page
        .getByText(`<script src="${root}/widget.js" data-agent="${agentId}" defer></script>`)
        .waitFor()
      await page.frameLocator('iframe').getByLabel('Message', { exact: true }).waitFor()
      for (const [tab, address] of [
        ['Page', `${root}/widget/${agentId}`],
        ['API', `${root}/api/v2`],
        ['Messaging', `${root}/webhooks/messaging/${agentId}`],
      ] as const) {
        await page.getByRole('tab', { name: tab }).click()
        await page.getByText(address).first().waitFor()
      }

      await page.goto(`${root}/agents/${agentId}/playground`)
      await page
        .getByRole('textbox', { name: /message|question/i })
        .first()
        .fill('How long is the warranty?')
      await page.keyboard.press('Enter')
      await page.getByRole('log').getByText('five years').first().waitFor()

      await page.goto(`${root}/agents/${agentId}/inbox`)
      await page.getByRole('heading', { name: 'Inbox' }).first().waitFor()
      const events = `${PREFIX}/api/v2/agents/${agentId}/helpdesk/events`
      await until('the stream of the shared worker', async () => proxy.answered.includes(`200 ${events}`))
      assert.ok(proxy.answered.some((line) => line.includes('/workspace-assets/desk-worker.')))

      const cookies = await context.cookies(root)
      assert.ok(cookies.some(({ name }) => name === 'parley.session_token'))
      assert.deepEqual([...new Set(cookies.map(({ path }) => path))], [PREFIX])
      assert.deepEqual(await context.cookies(`${proxy.origin}/other`), [])
      await context.close()

      const deep = `${PREFIX}/workspace?tab=keys`
      for (const way of ['password', 'provider'] as const) {
        const visitor = await open()
        await visitor.page.goto(proxy.origin + deep)
        await visitor.page.getByRole('heading', { name: 'Sign in' }).waitFor()
        assert.equal(new URL(visitor.page.url()).pathname, `${PREFIX}/sign-in`)
        if (way === 'provider') await visitor.page.getByRole('button', { name: 'Continue with' }).click()
        else {
          await visitor.page.getByLabel('Email').fill('ada@example.com')
          await visitor.page.getByLabel('Password').fill(PASSWORD)
          await visitor.page.keyboard.press('Enter')
        }
        await nav(visitor.page).waitFor()
        await visitor.page.waitForURL(proxy.origin + deep)
        await visitor.context.close()
      }
      // Without a deep link, a sign-in with the provider stays at the first page.
      const { page: plain, context: other } = await open()
      await plain.goto(`${root}/sign-in`)
      await plain.getByRole('button', { name: 'Continue with' }).click()
      await nav(plain).waitFor()
      await plain.waitForURL(`${root}/agents`)
      await plain.getByRole('button', { name: /Ada Okafor/ }).click()
      await plain.getByRole('menuitem', { name: 'Sign out' }).click()
      await plain.getByRole('heading', { name: 'Sign in' }).waitFor()
      assert.equal(pathOf(plain), `${PREFIX}/sign-in`)
      await other.close()
    })

    test('the widget answers on a page of another origin, and on the page of the agent', async () => {
      site = createServer((_request, response) =>
        response
          .writeHead(200, { 'content-type': 'text/html' })
          .end(
            `<!doctype html><title>Lamps</title><link rel="icon" href="data:,"><h1>Lamps</h1><script src="${root}/widget.js" data-agent="${agentId}" defer></script>`,
          ),
      )
      const { context, page } = await open()
      await page.goto(await listen(site))
      await page.getByRole('button', { name: /^Chat with/ }).click()
      const chat = page.frameLocator('iframe')
      await chat.getByLabel('Message', { exact: true }).fill('How long is the warranty?')
      await chat.getByRole('button', { name: 'Send', exact: true }).click()
      await chat.locator('[data-speaker="assistant"]').last().getByText('five years').first().waitFor()
      await page.goto(`${root}/widget/${agentId}`)
      await page.getByLabel('Message', { exact: true }).waitFor()
      await context.close()
    })

    test('pages, documents and links of the service stay below the path', async () => {
      const { context, page } = await open()
      await page.goto(`${root}/docs`)
      await page.getByRole('link', { name: 'Running Parley' }).click()
      await page.getByRole('link', { name: 'Documentation', exact: true }).click()
      await page.getByRole('link', { name: 'Workspace', exact: true }).click()
      await page.getByRole('heading', { name: 'Sign in' }).waitFor()
      await page.goto(`${root}/reference`)
      await page.getByRole('heading', { name: 'Parley API' }).waitFor()
      await page.goto(`${root}/status`)
      for (const address of (await page.evaluate(
        '[...document.links].map(({ href }) => href)',
      )) as string[]) {
        assert.ok(address.startsWith(`${root}/`), address)
        assert.equal((await fetch(address)).status, 200, address)
      }
      await context.close()

      const document = (await (await fetch(`${root}/openapi.json`)).json()) as { servers: { url: string }[] }
      assert.equal(document.servers[0]?.url, `${root}/api/v2`)
      const authorization = `Bearer ${key}`
      for (const path of ['/api/v2/health', '/api/v2/agents', '/api/v1/get-chatbots'])
        assert.equal((await fetch(root + path, { headers: { authorization } })).status, 200, path)
      const form = new FormData()
      form.set('name', 'Care')
      form.set('file', new File(['# Care\n\nWipe the lamps with a dry cloth.'], 'care.md'))
      const sent = { method: 'POST', headers: { authorization }, body: form }
      assert.equal((await fetch(`${root}/api/v2/agents/${agentId}/sources`, sent)).status, 201)
      const invited = await fetch(`${root}/api/v2/invitations`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'sam@example.com', role: 'viewer' }),
      })
      const { link } = (await invited.json()) as { link: string }
      assert.ok(link.startsWith(`${root}/invite#`), link)
      const { stdout } = await parley(['setup-link'], env)
      assert.ok(stdout.startsWith(`${root}/setup#`), stdout)
      // A health check in front of the proxy uses no prefix.
      assert.equal((await fetch(`${service.url}/api/v2/health`)).status, 200)
      assert.deepEqual(proxy.outside, [])
      assert.deepEqual(
        proxy.answered.filter((line) => line.startsWith('404')),
        [],
      )
    })
  })
}
