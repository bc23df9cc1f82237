import assert from 'node:assert/strict'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { build } from 'esbuild'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { V2 } from '../../server/platform/http/contract.ts'
import { type ModelServer, startModelServer } from '../fakes/model-server.ts'
import { tokens } from '../fakes/reply.ts'
import { findBrowser } from '../find-browser.ts'
import { launchChromium } from '../launch-chromium.ts'
import { createBackend } from '../pages/use-chat-backend.ts'
import { type Client, type Service, startService } from '../start.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the chat page in a browser.'

// `skip` is set on each test instead of the suite, because only then are the tests counted as skipped.
describe('a chat page with useChat', () => {
  let models: ModelServer
  let service: Service
  let client: Client
  let agentId: string
  let backend: Server
  let url: string
  let browser: Browser
  let context: BrowserContext
  let page: Page

  before(async () => {
    if (skip) return
    models = await startModelServer()
    service = await startService({
      OPENAI_BASE_URL: `${models.url}/v1`,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODEL: 'fake-model',
    })
    client = await service.account()
    agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
    const script = await bundle()
    const settings = { url: `${service.url}${V2}`, key: client.key, agentId, userOf: () => 'visitor-1' }
    backend = createBackend(settings, async () => script)
    await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(backend.address() as AddressInfo).port}/`
    browser = await launchChromium()
  })
  after(async () => {
    await browser?.close()
    backend?.closeAllConnections()
    backend?.close()
    await service?.close()
    await models?.close()
  })

  async function openPage(prepare?: (context: BrowserContext) => Promise<unknown>): Promise<void> {
    context = await browser.newContext()
    await prepare?.(context)
    page = await context.newPage()
    page.setDefaultTimeout(120_000)
    await page.goto(url)
  }

  async function say(text: string): Promise<void> {
    await page.getByLabel('Message').fill(text)
    await page.getByRole('button', { name: 'Send' }).click()
  }

  const status = (name: string) => page.locator(`[data-status="${name}"]`).waitFor()
  const answered = (text: string) =>
    page.locator('[data-role="assistant"]').last().filter({ hasText: text }).waitFor()
  const shown = () =>
    page.locator('[data-role]').evaluateAll((lines) => lines.map((line) => line.textContent ?? ''))

  /** Starts a slow answer and waits until the page is in the middle of it. */
  async function inTheMiddle(question: string): Promise<string> {
    models.queue.push({ tokens: tokens(40), delayMs: 40 })
    await say(question)
    await answered('token5')
    assert.doesNotMatch((await shown()).at(-1) ?? '', /token39/)
    return tokens(40).join('')
  }

  test('an answer streams into the page, which never sees the key', { skip }, async () => {
    await openPage()
    const whole = await inTheMiddle('Hello?')
    await status('ready')
    assert.deepEqual(await shown(), ['Hello?', whole])
    models.queue.push({ tokens: ['Second', ' answer.'] })
    await say('And now?')
    await answered('Second answer.')
    assert.deepEqual(await shown(), ['Hello?', whole, 'And now?', 'Second answer.'])
    const { body } = await client.request('GET', `/agents/${agentId}/conversations`)
    assert.deepEqual([body.pagination.total, body.data[0].userId], [1, 'visitor-1'])
    const script = await (await fetch(`${url}page.js`)).text()
    assert.ok(script.length > 10_000 && !`${await page.content()}${script}`.includes(client.key))
    await context.close()
  })

  test('a reload during an answer continues it, and shows it once', { skip }, async () => {
    await openPage()
    const whole = await inTheMiddle('Reload me')
    await page.reload()
    await answered('token6')
    await status('ready')
    assert.deepEqual(await shown(), ['Reload me', whole])
    await page.reload()
    await answered('token39')
    assert.deepEqual(await shown(), ['Reload me', whole])
    await context.close()
  })

  test('connections that break during an answer are reopened', { skip }, async () => {
    await openPage()
    const whole = await inTheMiddle('Cut me')
    for (const next of ['token12', 'token18']) {
      backend.closeAllConnections()
      await answered(next)
    }
    await status('ready')
    assert.deepEqual(await shown(), ['Cut me', whole])
    assert.equal(await page.getByRole('alert').count(), 0)
    await context.close()
  })

  test('the stop button keeps the text so far, also in the stored conversation', { skip }, async () => {
    await openPage()
    const whole = await inTheMiddle('Stop it')
    await page.getByRole('button', { name: 'Stop' }).click()
    await status('ready')
    const [, partial = ''] = await shown()
    assert.ok(partial.length > 0 && partial.length < whole.length && whole.startsWith(partial), partial)
    await page.reload()
    await answered('token5')
    assert.deepEqual(await shown(), ['Stop it', partial])
    await context.close()
  })

  test('a client action runs in the page, and the answer continues from its result', { skip }, async () => {
    const action = { type: 'client', description: 'Reads the title of the page that the visitor sees' }
    const inputs = { type: 'object', properties: {} }
    const created = await client.request('POST', `/agents/${agentId}/actions`, {
      ...action,
      name: 'read_title',
      inputs,
    })
    assert.equal(created.status, 201, JSON.stringify(created.body))
    await openPage()
    models.queue.push(
      { tokens: ['One moment.'], toolCalls: [{ id: 'call_1', name: 'read_title', input: {} }] },
      { tokens: ['Your page is', ' called Chat.'] },
    )
    await say('What is my page called?')
    await answered('called Chat.')
    await status('ready')
    assert.deepEqual(await shown(), ['What is my page called?', 'One moment.Your page is called Chat.'])
    const asked = models.requests.findLast(({ body }) => JSON.stringify(body).includes('called?'))
    assert.match(JSON.stringify(asked?.body.messages.at(-1)), /title.*Chat/)
    await page.reload()
    await answered('called Chat.')
    assert.deepEqual(await shown(), ['What is my page called?', 'One moment.Your page is called Chat.'])
    await context.close()
  })

  test('a page that is left while its action waits runs it when it is opened again', { skip }, async () => {
    let isCut = true
    await openPage((one) =>
      one.route('**/tool-result', (route) => (isCut ? route.abort() : route.continue())),
    )
    const submitted = page.waitForRequest('**/tool-result')
    models.queue.push({ tokens: ['Wait.'], toolCalls: [{ id: 'call_2', name: 'read_title', input: {} }] })
    await say('Left in the middle?')
    await submitted
    models.queue.push({ tokens: [' Back again.'] })
    await page.reload()
    isCut = false
    await answered('Back again.')
    await status('ready')
    assert.deepEqual(await shown(), ['Left in the middle?', 'Wait. Back again.'])
    await context.close()
  })

  test('the chat works in a browser that blocks storage', { skip }, async () => {
    await openPage((one) =>
      one.addInitScript(() => {
        Object.defineProperty(globalThis, 'localStorage', {
          get: () => {
            throw new DOMException('The operation is insecure.', 'SecurityError')
          },
        })
      }),
    )
    models.queue.push({ tokens: ['Fine.'] }, { tokens: ['Still fine.'] })
    await say('Private?')
    await answered('Fine.')
    await status('ready')
    await say('Again?')
    await answered('Still fine.')
    assert.deepEqual(await shown(), ['Private?', 'Fine.', 'Again?', 'Still fine.'])
    await context.close()
  })
})

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, '../pages/use-chat-page.tsx')],
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'error',
  })
  return outputFiles[0]!.text
}
