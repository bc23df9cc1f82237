import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createMember } from '../../server/accounts/records/members.ts'
import { tokens } from '../fakes/reply.ts'
import { findBrowser } from '../find-browser.ts'
import { until } from '../until.ts'
import { answered, idle, openChat, openWidgetHome, say, shown, type Visit, visit } from '../widget-home.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the widget in a browser.'

const whole = tokens(40).join('').trim()

describe('the chat on a website', () => {
  let home: Awaited<ReturnType<typeof openWidgetHome>>
  let agentId: string

  before(async () => {
    if (skip) return
    home = await openWidgetHome()
    agentId = await home.agent({ allowedDomains: [new URL(home.site.url).host] })
  })
  after(() => home?.close())

  async function enter(): Promise<Visit> {
    const visitor = await visit(home)
    await openChat(visitor)
    return visitor
  }

  /** Brings the visitor into the middle of an answer, which continues only as far as `letOn` allows. */
  async function inTheMiddle(visitor: Visit, question: string): Promise<{ letOn(to?: number): void }> {
    let last = 5
    let waiting: (() => void)[] = []
    home.models.queue.push({
      tokens: tokens(40),
      async beforeToken(index) {
        while (index > last) await new Promise<void>((resolve) => waiting.push(resolve))
      },
    })
    await say(visitor, question)
    await answered(visitor, 'token5')
    return {
      letOn(to = 39) {
        last = to
        const now = waiting
        waiting = []
        for (const go of now) go()
      },
    }
  }

  const stored = (text: string) =>
    home.service.ctx.db
      .selectFrom('messages')
      .selectAll()
      .where('agent_id', '=', agentId)
      .where('role', '=', 'user')
      .execute()
      .then((rows) => rows.filter(({ parts }) => JSON.stringify(parts).includes(text)))

  test('an answer is streamed, and the conversation continues', { skip }, async () => {
    const visitor = await enter()
    const answer = await inTheMiddle(visitor, 'Hello?')
    assert.match((await shown(visitor)).at(-1) ?? '', /token5$/)
    answer.letOn()
    await answered(visitor, 'token39')
    await idle(visitor)
    assert.deepEqual(await shown(visitor), ['Hello?', whole])
    home.models.queue.push({
      tokens: [
        `See **this** [1] and [that](${home.site.url}). Not [your bank](https://evil.example/?q=secret).`,
      ],
    })
    await say(visitor, 'And now?')
    await answered(visitor, 'See this')
    await idle(visitor)
    const link = visitor.chat.getByRole('link', { name: 'that' })
    assert.equal(await link.getAttribute('rel'), 'noopener noreferrer nofollow')
    assert.equal(await visitor.chat.getByRole('link').count(), 1, 'a stranger is not linked to')
    const said = 'See this and that. Not your bank (https://evil.example/?q=secret).'
    assert.deepEqual(await shown(visitor), ['Hello?', whole, 'And now?', said])
    await visitor.context.close()
  })

  test('a reload during an answer continues it, and shows it once', { skip }, async () => {
    const visitor = await enter()
    const answer = await inTheMiddle(visitor, 'Reload me')
    await visitor.page.reload()
    await answered(visitor, 'token5')
    answer.letOn()
    await answered(visitor, 'token39')
    await idle(visitor)
    assert.deepEqual(await shown(visitor), ['Reload me', whole])
    const second = { ...visitor, page: await visitor.context.newPage() }
    await second.page.goto(home.site.url)
    second.chat = second.page.frameLocator('iframe')
    await openChat(second)
    await answered(second, 'token39')
    assert.deepEqual(await shown(second), ['Reload me', whole])
    await visitor.context.close()
  })

  test('connections that break during an answer are reopened', { skip }, async () => {
    const visitor = await enter()
    const answer = await inTheMiddle(visitor, 'Cut me')
    for (const next of [12, 18]) {
      home.door.cut()
      answer.letOn(next)
      await answered(visitor, `token${next}`)
    }
    answer.letOn()
    await answered(visitor, 'token39')
    await idle(visitor)
    assert.deepEqual(await shown(visitor), ['Cut me', whole])
    assert.equal(await visitor.chat.getByRole('alert').count(), 0)
    await visitor.context.close()
  })

  test('a message whose response is lost is sent again, and stored once', { skip }, async () => {
    const visitor = await enter()
    let tries = 0
    await visitor.context.route('**/messages', async (route) => {
      tries += 1
      if (tries > 1) return route.continue()
      await route.fetch()
      await route.abort()
    })
    home.models.queue.push({ tokens: ['Once.'] })
    await say(visitor, 'Lost on the way')
    await answered(visitor, 'Once.')
    await idle(visitor)
    assert.deepEqual(await shown(visitor), ['Lost on the way', 'Once.'])
    assert.ok(tries > 1)
    assert.equal((await stored('Lost on the way')).length, 1)
    await visitor.context.close()
  })

  test('a message that could not be sent can be sent again, also after a reload', { skip }, async () => {
    const visitor = await enter()
    await visitor.context.route('**/messages', (route) => route.fulfill({ status: 403, json: {} }))
    await say(visitor, 'Do not lose me')
    const { chat } = visitor
    await chat.getByRole('alert').filter({ hasText: 'Your message was not sent.' }).waitFor()
    await visitor.context.unroute('**/messages')
    home.models.queue.push({ tokens: ['Here you are.'] })
    await visitor.page.reload()
    await answered(visitor, 'Here you are.')
    await idle(visitor)
    assert.deepEqual(await shown(visitor), ['Do not lose me', 'Here you are.'])
    await visitor.context.close()
  })

  test('the stop button keeps the text so far', { skip }, async () => {
    const visitor = await enter()
    const answer = await inTheMiddle(visitor, 'Stop it')
    await visitor.chat.getByRole('button', { name: 'Stop answering' }).click()
    await visitor.chat.getByRole('button', { name: 'Send', exact: true }).waitFor()
    answer.letOn()
    const [, partial = ''] = await shown(visitor)
    assert.ok(partial.length > 0 && partial.length < whole.length && whole.startsWith(partial), partial)
    await visitor.page.reload()
    await answered(visitor, 'token5')
    assert.deepEqual(await shown(visitor), ['Stop it', partial])
    await visitor.context.close()
  })

  test('when no answer can be generated, the question can be asked again', { skip }, async () => {
    const visitor = await enter()
    home.models.queue.push({ status: 400 })
    // This is the reply to whichever request comes first, because the service also retries by itself.
    home.models.otherwise(() => ({ tokens: ['Now it works.'] }))
    await say(visitor, 'Difficult')
    const alert = visitor.chat.getByRole('alert')
    await alert.filter({ hasText: 'There was no answer' }).waitFor()
    await alert.getByRole('button', { name: 'Ask again' }).click()
    await answered(visitor, 'Now it works.')
    await alert.waitFor({ state: 'detached' })
    assert.deepEqual(await shown(visitor), ['Difficult', 'Now it works.'])
    await visitor.context.close()
  })

  test('a sentence stands in the place of an answer without words', { skip }, async () => {
    const visitor = await enter()
    home.models.queue.push({ tokens: [] }, { tokens: [] })
    await say(visitor, 'Silence?')
    await answered(visitor, 'I have no answer to this.')
    await idle(visitor)
    assert.deepEqual(await shown(visitor), ['Silence?', 'I have no answer to this.'])
    await visitor.chat.getByText('Your messages are answered by an AI system.').waitFor()
    await visitor.context.close()
  })

  test('earlier conversations are listed and can be opened; a new one starts empty', { skip }, async () => {
    const visitor = await enter()
    const { chat } = visitor
    home.models.queue.push({ tokens: ['First answer.'] })
    await say(visitor, 'First question')
    await answered(visitor, 'First answer.')
    await idle(visitor)
    await chat.getByRole('button', { name: 'New conversation' }).click()
    await chat.locator('[data-speaker]').first().waitFor({ state: 'detached' })
    home.models.queue.push({ tokens: ['Second answer.'] })
    await say(visitor, 'Second question')
    await answered(visitor, 'Second answer.')
    await idle(visitor)
    await chat.getByRole('button', { name: 'Earlier conversations' }).click()
    const entries = chat.locator('.conversations li button')
    await entries.nth(1).click()
    await answered(visitor, 'First answer.')
    assert.deepEqual(await shown(visitor), ['First question', 'First answer.'])
    await visitor.context.close()
  })

  test('a hidden chat closes its connection, and shows what it missed when it is visible again', {
    skip,
  }, async () => {
    const visitor = await enter()
    const { page } = visitor
    const following = page.waitForRequest(/\/events$/)
    home.models.queue.push({ tokens: ['Noted.'] })
    await say(visitor, 'I will be back')
    await answered(visitor, 'Noted.')
    const stream = await following
    const frame = page.frames().find((one) => one.url().includes('/widget/'))
    const see = (visibility: 'visible' | 'hidden') =>
      frame?.evaluate(
        `Object.defineProperty(document, 'visibilityState', { value: '${visibility}', configurable: true }); document.dispatchEvent(new Event('visibilitychange'))`,
      )
    const givenUp = page.waitForEvent('requestfailed', (request) => request === stream)
    await see('hidden')
    await givenUp
    const account = { id: home.client.accountId, plan: 'unlimited' } as const
    await createMember(home.service.ctx.db, account, { email: 'back@example.com', name: 'Ada' })
    const conversation = new URL(stream.url()).pathname.split('/').at(-2)
    const path = `/agents/${agentId}`
    const taken = await home.client.request('POST', `${path}/conversations/${conversation}/takeover`, {
      memberEmail: 'back@example.com',
    })
    const ticket = `${path}/helpdesk/tickets/${taken.body.data.ticketNumber}/messages`
    const reply = { type: 'reply', content: 'Welcome back.', authorEmail: 'back@example.com' }
    assert.equal((await home.client.request('POST', ticket, reply)).status, 201)
    await see('visible')
    await answered(visitor, 'Welcome back.')
    assert.deepEqual(await shown(visitor), ['I will be back', 'Noted.', 'Welcome back.'])
    await visitor.context.close()
  })

  test('ratings are stored and can be removed', { skip }, async () => {
    const visitor = await enter()
    home.models.queue.push({ tokens: ['Rate me.'] })
    await say(visitor, 'May I?')
    await answered(visitor, 'Rate me.')
    const good = visitor.chat.getByRole('button', { name: 'Good answer' })
    const ratings = () =>
      home.service.ctx.db.selectFrom('messages').selectAll().where('feedback', 'is not', null).execute()
    await good.click()
    await until('the rating', async () => (await ratings()).length === 1)
    await visitor.chat.locator('[aria-pressed="true"]').waitFor()
    await good.click()
    await until('no rating', async () => (await ratings()).length === 0)
    await visitor.context.close()
  })

  test('the chat works in a browser that blocks storage', { skip }, async () => {
    const context = await home.browser.newContext()
    context.setDefaultTimeout(120_000)
    await context.addInitScript(() => {
      for (const name of ['localStorage', 'sessionStorage']) {
        Object.defineProperty(globalThis, name, {
          get: () => {
            throw new DOMException('The operation is insecure.', 'SecurityError')
          },
        })
      }
    })
    const page = await context.newPage()
    await page.goto(home.site.url)
    const visitor: Visit = { context, page, chat: page.frameLocator('iframe') }
    await openChat(visitor)
    home.models.queue.push({ tokens: ['Fine.'] }, { tokens: ['Still fine.'] })
    await say(visitor, 'Private?')
    await answered(visitor, 'Fine.')
    await idle(visitor)
    await say(visitor, 'Again?')
    await answered(visitor, 'Still fine.')
    assert.deepEqual(await shown(visitor), ['Private?', 'Fine.', 'Again?', 'Still fine.'])
    await context.close()
  })
})
