import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, createServer as createDoor, type Socket } from 'node:net'
import { Transform } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import type { Browser, BrowserContext, FrameLocator, Page } from 'playwright-core'
import { type ModelServer, startModelServer } from './fakes/model-server.ts'
import { launchChromium } from './launch-chromium.ts'
import { type Client, type Service, startService } from './start.ts'

const PATIENCE_MS = 120_000

/** Returns a page of a customer's site that contains the tag. The site has another port and thus another origin. */
const hostPage = (tag: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Bright Lamps</title>
<style>
  body { margin: 0; font: 18px/1.6 Georgia, serif; color: #2b2b2b; background: #f7f4ee }
  main { max-width: 46rem; margin: 6rem auto; padding: 0 1.5rem }
  button, div, iframe, img { border: 4px dotted red; color: lime; width: 20px; position: relative }
</style></head><body><main><h1>Bright Lamps</h1>
<p>Lamps for desks, halls and gardens. Made in small numbers, repaired for as long as you keep them.</p></main>
${tag}</body></html>`

type WidgetHome = {
  service: Service
  client: Client
  models: ModelServer
  browser: Browser
  /** The proxy through which visitors reach the service. Its connections can be cut. */
  door: Door
  /** The site that embeds the chat. Its page contains `tag` and is sent with `headers`. */
  site: { url: string; tag: string; headers: Record<string, string> }
  agent(fields?: object, styles?: object): Promise<string>
  close(): Promise<void>
}

type Door = {
  url: string
  /** The delay of bytes on their way to the service. */
  latencyMs: number
  cut(): void
  close(): void
}

/** Opens a proxy that passes bytes to the service and back. */
async function openDoor(service: Service): Promise<Door> {
  const sockets = new Set<Socket>()
  const server = createDoor((visitor) => {
    const inside = connect(Number(new URL(service.url).port), '127.0.0.1')
    for (const socket of [visitor, inside]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        visitor.destroy()
        inside.destroy()
      })
    }
    visitor.pipe(delayed(door)).pipe(inside).pipe(visitor)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const door: Door = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    latencyMs: 0,
    cut,
    close() {
      server.close()
      cut()
    },
  }
  return door
}

/** Returns a stream that delays its bytes. */
const delayed = (door: Pick<Door, 'latencyMs'>): Transform =>
  new Transform({
    async transform(bytes, _encoding, done) {
      if (door.latencyMs > 0) await wait(door.latencyMs)
      done(null, bytes)
    },
  })

/** Starts a service, a site of another origin and a browser. */
export async function openWidgetHome(): Promise<WidgetHome> {
  const models = await startModelServer()
  const service = await startService({
    OPENAI_BASE_URL: `${models.url}/v1`,
    OPENAI_API_KEY: 'sk-test',
    OPENAI_MODEL: 'fake-model',
  })
  const client = await service.account()
  const door = await openDoor(service)
  const site = { url: '', tag: '', headers: {} }
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html', ...site.headers }).end(hostPage(site.tag))
  })
  await listen(server)
  site.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const browser = await launchChromium()
  return {
    service,
    client,
    models,
    browser,
    door,
    site,
    async agent(fields = {}, styles = {}) {
      const { body } = await client.request('POST', '/agents', { name: 'Lumi', visibility: 'public' })
      const changed = await client.request('PUT', `/agents/${body.id}`, {
        ipRateLimits: { limit: 200, timeframe: 1 },
        ...fields,
      })
      const painted = await client.request('PUT', `/agents/${body.id}/styles`, { styles: { chat: styles } })
      if (changed.status !== 200 || painted.status !== 200) {
        throw new Error(JSON.stringify([changed.body, painted.body]))
      }
      site.tag = tagOf(door, body.id)
      return body.id
    },
    async close() {
      await browser.close()
      server.closeAllConnections()
      server.close()
      door.close()
      await service.close()
      await models.close()
    },
  }
}

export const tagOf = ({ url }: { url: string }, agentId: string): string =>
  `<script src="${url}/widget.js" data-agent="${agentId}" defer></script>`

const listen = (server: Server): Promise<void> =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))

export type Visit = { context: BrowserContext; page: Page; chat: FrameLocator }

/** Opens the site in a new browser context. */
export async function visit(
  { browser, site }: WidgetHome,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<Visit> {
  const context = await browser.newContext(options)
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  await page.goto(site.url)
  return { context, page, chat: page.frameLocator('iframe') }
}

/** Presses the launcher button and waits for the message field. */
export async function openChat({ page, chat }: Visit, field = 'Message'): Promise<void> {
  await page.getByRole('button', { name: /^Chat with/ }).click()
  await chat.getByLabel(field, { exact: true }).waitFor()
}

export async function say({ chat }: Pick<Visit, 'chat'>, text: string): Promise<void> {
  await chat.getByLabel('Message', { exact: true }).fill(text)
  await chat.getByRole('button', { name: 'Send', exact: true }).click()
}

/** Waits until the newest answer contains the text. */
export const answered = ({ chat }: Pick<Visit, 'chat'>, text: string): Promise<void> =>
  chat.locator('[data-speaker="assistant"]').last().filter({ hasText: text }).waitFor()

/** Waits until no answer is being received. */
export const idle = ({ chat }: Pick<Visit, 'chat'>): Promise<void> =>
  chat.locator('[role="log"][aria-busy="false"]').waitFor()

/** Returns the texts of all messages as displayed. */
export const shown = ({ chat }: Pick<Visit, 'chat'>): Promise<string[]> =>
  chat.locator('[data-speaker] > .bubble').allInnerTexts()
