import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { SignJWT } from 'jose'
import { findBrowser } from '../find-browser.ts'
import { until } from '../until.ts'
import { answered, idle, openChat, openWidgetHome, say, shown, tagOf, visit } from '../widget-home.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the widget in a browser.'

describe('the page that embeds the chat', () => {
  let home: Awaited<ReturnType<typeof openWidgetHome>>

  before(async () => {
    if (!skip) home = await openWidgetHome()
  })
  after(() => home?.close())

  async function addTool(agentId: string, name: string): Promise<void> {
    const inputs = { type: 'object', properties: {} }
    const action = { type: 'client', name, description: 'Does something on the page', inputs }
    const { status } = await home.client.request('POST', `/agents/${agentId}/actions`, action)
    assert.equal(status, 201)
  }

  test("the page's layout does not move, and its styles do not reach the chat", { skip }, async () => {
    await home.agent()
    const visitor = await visit(home, { viewport: { width: 900, height: 500 } })
    const button = visitor.page.getByRole('button', { name: 'Chat with Lumi' })
    const measure = () =>
      visitor.page.evaluate<number[]>(
        '[document.documentElement.scrollWidth, document.documentElement.scrollHeight, document.querySelector("main").getBoundingClientRect().top, document.querySelector("main").getBoundingClientRect().left]',
      )
    const alone = await measure()
    await button.waitFor()
    assert.deepEqual(await measure(), alone)
    assert.equal(await visitor.page.locator('iframe').count(), 0)
    const box = await button.boundingBox()
    assert.deepEqual([box?.width, box?.height], [56, 56])
    await openChat(visitor)
    assert.deepEqual(await measure(), alone)
    const shift = 'performance.getEntriesByType("layout-shift").length'
    assert.equal(await visitor.page.evaluate(shift), 0)
    await visitor.context.close()
  })

  test('it works with the keyboard alone, and the focus returns to the page', { skip }, async () => {
    await home.agent()
    const { page, context, chat } = await visit(home)
    const button = page.locator('parley-chat button')
    await button.waitFor()
    assert.equal(await button.getAttribute('aria-expanded'), 'false')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    const field = chat.getByLabel('Message', { exact: true })
    await field.waitFor()
    await until('the focus in the field', () => field.evaluate((one) => one.matches(':focus')))
    assert.equal(await button.getAttribute('aria-expanded'), 'true')
    home.models.queue.push({ tokens: ['By', ' keyboard.'] })
    await page.keyboard.type('First line')
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.type('second line')
    await page.keyboard.press('Enter')
    await answered({ chat }, 'By keyboard.')
    await idle({ chat })
    assert.deepEqual(await shown({ chat }), ['First line\nsecond line', 'By keyboard.'])
    await page.keyboard.press('Escape')
    await until('the closed panel', async () => (await button.getAttribute('aria-expanded')) === 'false')
    await until('the focus on the button', () =>
      page.evaluate('document.activeElement?.localName === "parley-chat"'),
    )
    await context.close()
  })

  test("the page's functions open and close the chat, which stays open on the next page", {
    skip,
  }, async () => {
    await home.agent()
    const { page, context, chat } = await visit(home)
    const button = page.locator('parley-chat button')
    await page.evaluate('window.parley.open()')
    await chat.getByLabel('Message', { exact: true }).waitFor()
    await page.reload()
    await chat.getByLabel('Message', { exact: true }).waitFor()
    await page.evaluate('window.parley.close()')
    await until('the closed panel', async () => (await button.getAttribute('aria-expanded')) === 'false')
    await page.reload()
    await button.waitFor()
    assert.equal(await page.locator('iframe').count(), 0)
    await context.close()
  })

  test('a client action runs in the page, and again after a reload while it waits', { skip }, async () => {
    const agentId = await home.agent()
    for (const name of ['read_title', 'read_all', 'not_here']) await addTool(agentId, name)
    const tool = (body: string) =>
      `${tagOf(home.door, agentId)}<script defer src="data:text/javascript,${encodeURIComponent(
        `window.parley.tools({ read_title: async () => { ${body} }, not_here: () => 'here',
          read_all: () => 'x'.repeat(62_000) })
        window.parley.tools({ not_here: null })`,
      )}"></script>`

    home.site.tag = tool('window.asked = true; return new Promise(() => {})')
    const visitor = await visit(home)
    await openChat(visitor)
    home.models.queue.push(
      { tokens: ['One moment.'], toolCalls: [{ id: 'call_1', name: 'read_title', input: {} }] },
      { tokens: ['Your page is', ' called Bright Lamps.'] },
    )
    await say(visitor, 'What is my page called?')
    await visitor.page.waitForFunction('window.asked')
    home.site.tag = tool('return { title: document.title }')
    await visitor.page.reload()
    await answered(visitor, 'called Bright Lamps.')
    await idle(visitor)
    const [question, answer = ''] = await shown(visitor)
    assert.equal(question, 'What is my page called?')
    assert.match(answer, /^One moment\.\s*Your page is called Bright Lamps\.$/)
    assert.match(JSON.stringify(home.models.requests.at(-1)?.body), /title.{1,10}Bright Lamps/)

    home.models.queue.push(
      { tokens: ['Trying.'], toolCalls: [{ id: 'call_2', name: 'not_here', input: {} }] },
      { tokens: ['It cannot.'] },
    )
    await visitor.page.clock.install()
    await say(visitor, 'And this?')
    await answered(visitor, 'Trying.')
    // The time in which the page may still add the action is skipped.
    await visitor.page.clock.fastForward(5_000)
    await answered(visitor, 'It cannot.')
    const told = home.models.requests.some(({ body }) => JSON.stringify(body).includes('no action not_here'))
    assert.ok(told)

    home.models.queue.push(
      { tokens: ['Reading.'], toolCalls: [{ id: 'call_3', name: 'read_all', input: {} }] },
      { tokens: ['It is long.'] },
    )
    await say(visitor, 'All of it?')
    await answered(visitor, 'It is long.')
    assert.match(JSON.stringify(home.models.requests.at(-1)?.body), /result of the action is too long/)
    await visitor.context.close()
  })

  for (const [what, answers] of [
    ['is slow', true],
    ['is lost', false],
  ] as const) {
    test(`an action that navigates to another page runs once when its result ${what}`, { skip }, async () => {
      const agentId = await home.agent()
      await addTool(agentId, 'open_product')
      home.site.tag = `${tagOf(home.door, agentId)}<script type="module">
        window.parley.tools({ open_product: async ({ id }) => {
          sessionStorage.runs = Number(sessionStorage.runs ?? 0) + 1
          location.href = '/products/' + id
        } })</script>`
      const visitor = await visit(home)
      let loads = 0
      visitor.page.on('framenavigated', (frame) => {
        if (frame === visitor.page.mainFrame()) loads += 1
      })
      await openChat(visitor)
      let results = 0
      await visitor.context.route('**/tool-result', (route) => {
        results += 1
        return answers || results > 1 ? route.continue() : route.abort()
      })
      home.door.latencyMs = 100
      try {
        home.models.queue.push(
          { tokens: ['Here.'], toolCalls: [{ id: 'call_1', name: 'open_product', input: { id: 'lamp' } }] },
          { tokens: ['This is the lamp.'] },
        )
        await say(visitor, 'Show me the lamp')
        await answered(visitor, 'This is the lamp.')
        await idle(visitor)
      } finally {
        home.door.latencyMs = 0
      }
      assert.match(visitor.page.url(), /\/products\/lamp$/)
      assert.deepEqual([loads, await visitor.page.evaluate('sessionStorage.runs')], [1, '1'])
      await visitor.context.close()
    })
  }

  test('signed-in visitors find their conversation in another browser, and can sign out', {
    skip,
  }, async () => {
    const agentId = await home.agent()
    const { secret } = (await home.client.request('PUT', `/agents/${agentId}/visitor-identity`)).body
    const tokenOf = (sub: string): Promise<string> =>
      new SignJWT({ name: 'Ada' })
        .setProtectedHeader({ alg: 'HS256' })
        .setSubject(sub)
        .setExpirationTime('5m')
        .setJti(randomUUID())
        .sign(new TextEncoder().encode(secret))
    const tag = home.site.tag
    const signedTag = async () =>
      tag.replace('data-agent', `data-identity="${await tokenOf('user-1')}" data-agent`)
    home.site.tag = await signedTag()
    const desk = await visit(home)
    await openChat(desk)
    home.models.queue.push({ tokens: ['Hello, Ada.'] })
    await say(desk, 'It is me')
    await answered(desk, 'Hello, Ada.')
    await idle(desk)
    const row = await home.service.ctx.db
      .selectFrom('conversations')
      .select('user_id')
      .where('agent_id', '=', agentId)
      .executeTakeFirst()
    assert.equal(row?.user_id, 'user-1')

    home.site.tag = await signedTag()
    const other = await visit(home)
    await openChat(other)
    await other.chat.getByRole('button', { name: 'Earlier conversations' }).click()
    await other.chat.locator('.conversations button').first().click()
    await answered(other, 'Hello, Ada.')

    // The page signs the visitor out and another one in without a reload. Then follows a page that signs nobody in.
    await desk.page.evaluate('parley.identify(null)')
    await until('nothing of Ada', async () => (await shown(desk)).length === 0)
    home.models.queue.push({ tokens: ['Hello, stranger.'] })
    await say(desk, 'Somebody else')
    await answered(desk, 'Hello, stranger.')
    await idle(desk)
    await desk.page.evaluate(`parley.identify(${JSON.stringify(await tokenOf('user-2'))})`)
    await answered(desk, 'Hello, stranger.')
    home.site.tag = tag
    await other.page.reload()
    await other.chat.getByLabel('Message', { exact: true }).waitFor()
    assert.deepEqual(await shown(other), [])
    assert.equal(await other.chat.getByRole('button', { name: 'Earlier conversations' }).count(), 0)
    const users = await home.service.ctx.db
      .selectFrom('conversations')
      .select('user_id')
      .where('agent_id', '=', agentId)
      .orderBy('user_id')
      .execute()
    assert.deepEqual(
      users.map(({ user_id }) => user_id),
      ['user-1', 'user-2'],
    )
    await desk.context.close()
    await other.context.close()
  })

  test('a site that is not allowed shows no button and cannot frame the chat', { skip }, async () => {
    const agentId = await home.agent({ allowedDomains: ['example.com'] })
    const { page, context } = await visit(home)
    const said = page.waitForEvent('console', (message) => message.text().includes('allowed domains'))
    await page.reload()
    await said
    assert.equal(await page.locator('parley-chat').count(), 0)
    const refused = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'))
    await page.evaluate(`document.body.append(Object.assign(document.createElement('iframe'), {
      src: ${JSON.stringify(`${home.door.url}/widget/${agentId}`)} }))`)
    await refused
    assert.equal(await page.frameLocator('iframe').getByLabel('Message').count(), 0)
    await context.close()
  })

  test('the chat works in a cross-origin isolated page', { skip }, async () => {
    await home.agent()
    home.site.headers = {
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-embedder-policy': 'require-corp',
    }
    try {
      const visitor = await visit(home)
      assert.equal(await visitor.page.evaluate('crossOriginIsolated'), true)
      await openChat(visitor)
      await visitor.context.close()
    } finally {
      home.site.headers = {}
    }
  })

  test('requests that failed to load are repeated', { skip }, async () => {
    await home.agent()
    const context = await home.browser.newContext()
    context.setDefaultTimeout(120_000)
    const lost = new Map<string, number>()
    const lose = (what: string, times: number) =>
      context.route(what, (route) => {
        const so = lost.get(what) ?? 0
        lost.set(what, so + 1)
        return so < times ? route.abort() : route.continue()
      })
    await lose('**/launcher.json*', 2)
    await lose('**/widget/*', 1)
    const page = await context.newPage()
    await page.clock.install()
    const failure = () => page.waitForEvent('console', (message) => message.text().includes('is not shown'))
    const said = failure()
    await page.goto(home.site.url)
    await said
    const chat = page.frameLocator('iframe')
    const again = failure()
    await page.evaluate('window.parley.open()')
    await again
    // The pauses before the next requests are skipped.
    await page.clock.fastForward(6_000)
    await page.getByText('Loading the chat').waitFor()
    assert.equal(await page.locator('iframe').isVisible(), false)
    await until('the first request for the chat', () => lost.has('**/widget/*'))
    await page.clock.fastForward(6_000)
    await chat.getByLabel('Message', { exact: true }).waitFor()
    assert.equal(await page.getByText('Loading the chat').isVisible(), false)
    assert.equal(await page.locator('iframe').count(), 1)
    assert.deepEqual([...lost.values()], [3, 2])
    await context.close()
  })

  test('a disabled chat says so in the panel, and works again once it is enabled', {
    skip,
  }, async () => {
    const agentId = await home.agent()
    const { page, context, chat } = await visit(home)
    await page.clock.install()
    await page.reload()
    const button = page.locator('parley-chat button')
    await button.waitFor()
    const show = (visibility: string) => home.client.request('PUT', `/agents/${agentId}`, { visibility })
    await show('private')
    await button.click()
    await chat.getByRole('heading', { name: 'This chat is not available' }).waitFor()
    await page.locator('iframe').waitFor()
    await show('public')
    // The pause before the chat is loaded again is skipped.
    await page.clock.fastForward(6_000)
    await chat.getByLabel('Message', { exact: true }).waitFor()
    await context.close()
  })

  test('it stays when the page replaces its body, until it is removed', { skip }, async () => {
    const agentId = await home.agent()
    const visitor = await visit(home)
    const { page, chat } = visitor
    await openChat(visitor)
    await chat.getByLabel('Message', { exact: true }).fill('Still here')
    await page.evaluate('document.body.replaceWith(document.createElement("body"))')
    assert.equal(await chat.getByLabel('Message', { exact: true }).inputValue(), 'Still here')
    await page.getByRole('button', { name: 'Close chat' }).last().click()
    await page.getByRole('button', { name: /^Chat with/ }).waitFor()
    await page.evaluate('window.parley.remove()')
    assert.equal(await page.locator('parley-chat').count(), 0)
    assert.equal(await page.evaluate('window.parley === undefined'), true)
    await page.evaluate(`{
      const tag = document.createElement('script')
      tag.src = ${JSON.stringify(`${home.door.url}/widget.js`)}
      tag.dataset.agent = ${JSON.stringify(agentId)}
      document.head.append(tag)
    }`)
    await openChat(visitor)
    await visitor.context.close()
  })

  test('a page has one chat, and an event says when it is ready', { skip }, async () => {
    const agentId = await home.agent()
    const listener = `<script>document.addEventListener('parley:ready', () => {
      document.title = 'Chat of ' + window.parley.agentId
    })</script>`
    home.site.tag = `${listener}${tagOf(home.door, agentId)}${tagOf(home.door, agentId)}`
    const { page, context } = await visit(home)
    await page.getByRole('button', { name: /^Chat with/ }).waitFor()
    assert.equal(await page.title(), `Chat of ${agentId}`)
    const warnings: string[] = []
    page.on('console', (message) => warnings.push(`${message.type()} ${message.text()}`))
    home.site.tag += tagOf(home.door, 'another')
    await page.reload()
    await until('the warning', () => warnings.length > 0)
    assert.deepEqual(warnings, [
      `warning Parley: the page has the chat of agent ${agentId}; a page can have one.`,
    ])
    // The second script warns at once, while the first one still asks for the settings of its chat.
    await page.getByRole('button', { name: /^Chat with/ }).waitFor()
    assert.equal(await page.locator('parley-chat').count(), 1)
    await context.close()
  })

  test('on a phone, the chat covers the page and can be closed', { skip }, async () => {
    await home.agent()
    const visitor = await visit(home, {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
    })
    const { page } = visitor
    const root = page.locator('html')
    await page.evaluate('document.documentElement.style.overflowY = "scroll"')
    const free = await root.getAttribute('style')
    await openChat(visitor)
    const frame = page.locator('iframe')
    await until('the whole screen', async () => {
      const box = await frame.boundingBox()
      return box?.x === 0 && box.y === 0 && box.width === 390 && box.height === 844
    })
    const dialog = page.getByRole('dialog', { name: 'Chat with Lumi' })
    assert.equal(await dialog.getAttribute('aria-modal'), 'true')
    const isInert = () => page.locator('body').evaluate((one) => one.matches('[inert]'))
    assert.equal(await isInert(), true)
    assert.match((await root.getAttribute('style')) ?? '', /overflow: hidden !important/)
    await page.setViewportSize({ width: 844, height: 600 })
    await until('the page beside the panel', async () => !(await isInert()))
    assert.equal(await dialog.count(), 0)
    await page.setViewportSize({ width: 390, height: 844 })
    await until('the page behind the panel', isInert)
    await visitor.chat.getByRole('button', { name: 'Close chat' }).click()
    assert.deepEqual([await isInert(), await root.getAttribute('style')], [false, free])
    await visitor.page.getByRole('button', { name: /^Chat with/ }).waitFor()
    await frame.waitFor({ state: 'hidden' })
    await visitor.context.close()
  })

  test('the chat opens automatically if configured, without taking the focus', { skip }, async () => {
    await home.agent({}, { autoOpenChatWindowAfter: 0 })
    const { page, context, chat } = await visit(home)
    await chat.getByLabel('Message', { exact: true }).waitFor()
    assert.equal(await page.evaluate('document.activeElement === document.body'), true)
    await context.close()
    const phone = await visit(home, { viewport: { width: 390, height: 844 } })
    await phone.page.getByRole('button', { name: /^Chat with/ }).waitFor()
    assert.equal(await phone.page.locator('iframe').count(), 0)
    await phone.context.close()
  })
})
