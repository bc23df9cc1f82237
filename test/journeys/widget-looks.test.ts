import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Frame, Page } from 'playwright-core'
import { createMember } from '../../server/accounts/records/members.ts'
import { brokenRules } from '../broken-rules.ts'
import { findBrowser } from '../find-browser.ts'
import { trained, until } from '../until.ts'
import { answered, idle, openChat, openWidgetHome, say, shown, visit } from '../widget-home.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the widget in a browser.'

const suggestedMessages = [
  { type: 'single', text: 'How long is the warranty?', order: 1 },
  { type: 'nested', name: 'Repairs', order: 2, items: [{ text: 'What does it cost?', order: 1 }] },
]

describe('the chat and its accessibility', () => {
  let home: Awaited<ReturnType<typeof openWidgetHome>>

  before(async () => {
    if (!skip) home = await openWidgetHome()
  })
  after(() => home?.close())

  /** Returns the accessibility problems in the document that a checker rates as serious or worse. */
  async function findings(where: Page | Frame): Promise<string[]> {
    // Elements that fade in are checked when their animation has finished.
    await where.evaluate(
      'Promise.all(document.getAnimations({ subtree: true }).filter((a) => a.effect.getTiming().iterations !== Infinity).map((a) => a.finished.catch(() => {})))',
    )
    return (await brokenRules(where))
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  }

  const withForm = async (fields: object, styles: object): Promise<string> => {
    const agentId = await home.agent(fields, styles)
    const action = { type: 'collect-leads', name: 'collect_leads', description: 'Takes contact details' }
    assert.equal((await home.client.request('POST', `/agents/${agentId}/actions`, action)).status, 201)
    return agentId
  }

  for (const theme of ['light', 'dark']) {
    test(`no accessibility rule is broken, ${theme}`, { skip }, async () => {
      const agentId = await withForm(
        { initialMessages: ['Hi! What can I do for you?'], suggestedMessages },
        {
          theme,
          userMessageColor: '#f59e0b',
          headerColor: '#7c3aed',
          footer: 'Answers may be wrong.',
          dismissableNotice: 'We are on holiday.',
        },
      )
      const source = {
        type: 'text',
        name: 'Repairs',
        content: 'Every lamp can be repaired within three days.',
      }
      const { body } = await home.client.request('POST', `/agents/${agentId}/sources`, source)
      await trained(home.service, body.data?.id ?? body.id)
      const visitor = await visit(home)
      const { page, chat } = visitor
      await page.getByRole('button', { name: /^Chat with/ }).waitFor()
      assert.deepEqual(await findings(page), [])
      await openChat(visitor)
      const frame = page.frames().find((one) => one.url().includes('/widget/'))
      assert.ok(frame)
      await chat.getByRole('button', { name: 'Repairs' }).click()
      assert.deepEqual(await findings(frame), [])
      home.models.queue.push({
        tokens: ['Yes, within **three** days [1].\n\n- `one`\n- [two](https://example.com)'],
      })
      await say(visitor, 'Can a lamp be repaired?')
      await answered(visitor, 'Yes, within three days.')
      await idle(visitor)
      await chat.getByRole('list', { name: 'Sources' }).getByText('Repairs').waitFor()
      assert.deepEqual(await findings(frame), [])
      home.models.queue.push({ tokens: ['I am not sure.'] })
      await say(visitor, 'And what else?')
      await answered(visitor, 'I am not sure.')
      await chat.getByRole('main').getByRole('button', { name: 'Leave your details' }).click()
      await chat.getByRole('button', { name: 'Send', exact: true }).click()
      await chat.getByText('Please give your').waitFor()
      assert.deepEqual(await findings(frame), [])
      await page.keyboard.press('Escape')
      await chat.getByRole('button', { name: 'Earlier conversations' }).click()
      await chat.getByRole('button', { name: /New conversation/ }).waitFor()
      assert.deepEqual(await findings(frame), [])
      await visitor.context.close()
    })
  }

  test('the form for contact details is stored with its conversation', { skip }, async () => {
    const agentId = await withForm({}, {})
    const visitor = await visit(home)
    const { chat } = visitor
    await openChat(visitor)
    home.models.queue.push({ tokens: ['I am not sure.'] })
    await say(visitor, 'Who can repair it?')
    await answered(visitor, 'I am not sure.')
    await chat.getByRole('main').getByRole('button', { name: 'Leave your details' }).click()
    await chat.getByLabel('Name').fill('Ada Lovelace')
    await chat.getByRole('button', { name: 'Send', exact: true }).click()
    await chat.getByRole('alert').filter({ hasText: 'e-mail address or phone number' }).waitFor()
    await chat.getByLabel('E-mail').fill('ada@example.com')
    await chat.getByRole('button', { name: 'Send', exact: true }).click()
    await chat.getByRole('heading', { name: 'Thank you' }).waitFor()
    const leads = await home.service.ctx.db
      .selectFrom('leads')
      .selectAll()
      .where('agent_id', '=', agentId)
      .execute()
    assert.deepEqual(
      leads.map(({ name, email, phone }) => [name, email, phone]),
      [['Ada Lovelace', 'ada@example.com', null]],
    )
    assert.ok(leads[0]?.conversation_id)
    await chat.getByRole('main').getByRole('button', { name: 'Back to the chat' }).click()
    await answered(visitor, 'I am not sure.')
    assert.equal(await chat.getByText('Not what you were looking for?').count(), 0)
    await visitor.context.close()
  })

  test('replies of a person are shown with their name', { skip }, async () => {
    const agentId = await home.agent()
    const account = { id: home.client.accountId, plan: 'unlimited' }
    await createMember(home.service.ctx.db, account, { email: 'ann@example.com', name: 'Ann' })
    const visitor = await visit(home)
    await openChat(visitor)
    home.models.queue.push({ tokens: ['I am the agent.'] })
    await say(visitor, 'A person, please')
    await answered(visitor, 'I am the agent.')
    await idle(visitor)
    const { id } = await home.service.ctx.db
      .selectFrom('conversations')
      .select('id')
      .where('agent_id', '=', agentId)
      .executeTakeFirstOrThrow()
    const path = `/agents/${agentId}/conversations/${id}`
    const taken = await home.client.request('POST', `${path}/takeover`, { memberEmail: 'ann@example.com' })
    // This happens without another message from the visitor.
    await visitor.chat.getByText('Ann is answering').waitFor()
    const ticket = `/agents/${agentId}/helpdesk/tickets/${taken.body.data.ticketNumber}/messages`
    const reply = { content: 'Yes, I am.', authorEmail: 'ann@example.com', type: 'reply' }
    assert.equal((await home.client.request('POST', ticket, reply)).status, 201)
    await answered(visitor, 'Yes, I am.')
    assert.equal(await visitor.chat.getByRole('article', { name: 'Ann' }).count(), 1)
    assert.equal((await home.client.request('POST', `${path}/end`)).status, 200)
    await visitor.chat.getByText('This conversation has ended.').waitFor()
    await say(visitor, 'Hello again')
    await answered(visitor, 'Hello from the model.')
    await idle(visitor)
    assert.deepEqual(await shown(visitor), ['Hello again', 'Hello from the model.'])
    await visitor.context.close()
  })

  test('a visitor who asks for a person sees the status, and the reply after a reload and in another tab', {
    skip,
  }, async () => {
    const agentId = await home.agent()
    const account = { id: home.client.accountId, plan: 'unlimited' }
    await createMember(home.service.ctx.db, account, { email: 'bea@example.com', name: 'Bea' })
    const escalate = { type: 'escalate', name: 'escalate', description: 'Calls people' }
    assert.equal((await home.client.request('POST', `/agents/${agentId}/actions`, escalate)).status, 201)
    const visitor = await visit(home)
    await openChat(visitor)
    await visitor.chat.getByRole('heading', { name: 'Hello! How can I help?' }).waitFor()
    await visitor.chat.getByRole('banner').getByRole('button', { name: 'Talk to a person' }).click()
    await visitor.chat.getByText('Nobody is here right now.').waitFor()
    const { id } = await home.service.ctx.db
      .selectFrom('conversations')
      .select('id')
      .where('agent_id', '=', agentId)
      .executeTakeFirstOrThrow()
    const second = { ...visitor, page: await visitor.context.newPage() }
    await second.page.goto(home.site.url)
    const other = { ...second, chat: second.page.frameLocator('iframe') }
    await openChat(other)
    await other.chat.getByText('Nobody is here right now.').waitFor()
    await visitor.page.bringToFront()
    await visitor.page.reload()
    await visitor.chat.getByText('Nobody is here right now.').waitFor()
    const path = `/agents/${agentId}/conversations/${id}`
    const taken = await home.client.request('POST', `${path}/takeover`, { memberEmail: 'bea@example.com' })
    await visitor.chat.getByText('Bea is answering').waitFor()
    home.door.cut()
    const ticket = `/agents/${agentId}/helpdesk/tickets/${taken.body.data.ticketNumber}/messages`
    const reply = { content: 'Hello, this is Bea.', authorEmail: 'bea@example.com', type: 'reply' }
    assert.equal((await home.client.request('POST', ticket, reply)).status, 201)
    await answered(visitor, 'Hello, this is Bea.')
    await other.page.bringToFront()
    await answered(other, 'Hello, this is Bea.')
    await visitor.page.bringToFront()
    await visitor.page.evaluate('window.parley.close()')
    assert.equal(
      (await home.client.request('POST', ticket, { ...reply, content: 'Still there?' })).status,
      201,
    )
    await visitor.page.getByRole('button', { name: /new message/ }).waitFor()
    await visitor.context.close()
  })

  test('tables, citations with a preview and the page of its own are shown, also right to left', {
    skip,
  }, async () => {
    const agentId = await home.agent(
      {},
      { theme: 'auto', footer: 'See our [terms](https://example.com/terms)' },
    )
    const source = {
      type: 'text',
      name: 'Prices',
      content: 'The small lamp costs 20 euros, the large one 40.',
    }
    const { body } = await home.client.request('POST', `/agents/${agentId}/sources`, source)
    await trained(home.service, body.id)
    const visitor = await visit(home, {
      locale: 'ar',
      colorScheme: 'dark',
      viewport: { width: 1280, height: 800 },
    })
    const { page } = visitor
    await page.goto(`${home.door.url}/widget/${agentId}`)
    const root = page.locator('html')
    // The chat is painted before the message field appears.
    await page.getByLabel('رسالة', { exact: true }).waitFor()
    assert.equal(await root.getAttribute('dir'), 'rtl')
    assert.equal(await root.getAttribute('data-theme'), 'dark')
    home.models.queue.push({
      tokens: ['The prices [1]:\n\n| Lamp | Price |\n|---|--:|\n| small | 20 [7] |\n| large | 40 |'],
    })
    await page.getByLabel('رسالة', { exact: true }).fill('What does the lamp cost?')
    await page.getByRole('button', { name: 'إرسال', exact: true }).click()
    await page.getByRole('cell', { name: '40' }).waitFor()
    assert.deepEqual(await page.getByRole('columnheader').allInnerTexts(), ['Lamp', 'Price'])
    await page.getByRole('button', { name: 'المصدر 1: Prices' }).click()
    await page.getByText('The small lamp costs 20 euros').waitFor()
    assert.deepEqual(await findings(page), [])
    await page.getByRole('button', { name: 'المصدر 1: Prices' }).click()
    await page.setViewportSize({ width: 1280, height: 360 })
    await until('the talk is scrolled up', async () => {
      await page.evaluate("document.querySelector('.log').scrollTo(0, 0)")
      return page.locator('.to-end').isVisible()
    })
    const { quote, cover } = await page.getByRole('button', { name: 'المصدر 1: Prices' }).evaluate(OPENED)
    assert.ok(quote <= cover, `the quote ends at ${quote}, and the button begins at ${cover}`)
    await page.setViewportSize({ width: 1280, height: 800 })
    assert.equal(
      await page.getByRole('link', { name: 'terms' }).getAttribute('href'),
      'https://example.com/terms',
    )
    const log = await page.getByRole('article').first().boundingBox()
    assert.ok(log && log.width <= 760, 'as wide as one reads')
    const wide = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
    assert.equal(wide, false)
    await visitor.context.close()
  })

  test('recognised speech is sent as a spoken message, and the answer is read aloud', { skip }, async () => {
    const agentId = await home.agent(
      { voiceSettings: { voice: { speed: 1.1 }, transcriber: { language: 'en-GB' } } },
      { showVoiceMode: true, showDictation: true },
    )
    const context = await home.browser.newContext()
    context.setDefaultTimeout(120_000)
    await context.addInitScript(HEARING)
    const page = await context.newPage()
    await page.goto(home.site.url)
    const visitor = { context, page, chat: page.frameLocator('iframe') }
    await openChat(visitor)
    const { chat } = visitor
    await chat.getByRole('button', { name: 'Dictate' }).click()
    await until(
      'the dictated words',
      async () => (await chat.getByLabel('Message', { exact: true }).inputValue()) === 'Is it open?',
    )
    await chat.getByLabel('Message', { exact: true }).fill('')
    home.models.queue.push({ tokens: ['**Yes**, until six [1]. See [hours](https://example.com).'] })
    await chat.getByRole('button', { name: 'Talk instead of typing' }).click()
    await answered(visitor, 'Yes, until six.')
    const frame = page.frames().find((one) => one.url().includes('/widget/'))
    const spoken = await until('the spoken answer', async () => {
      const words = (await frame?.evaluate('globalThis.spoken')) as unknown[]
      return words.length > 0 && words
    })
    assert.deepEqual(spoken, [['Yes, until six. See hours.', 1.1, 'en-GB']])
    await chat.getByText('Listening').waitFor()
    await chat.getByRole('button', { name: 'Stop talking' }).click()
    const row = await home.service.ctx.db
      .selectFrom('conversations')
      .selectAll()
      .where('agent_id', '=', agentId)
      .executeTakeFirstOrThrow()
    assert.equal(row.has_voice, true)
    await context.close()
  })

  test('in the middle of the page, the chat has its own styles, a notification, and can be closed', {
    skip,
  }, async () => {
    const agentId = await home.agent({ initialMessages: ['From the corner'] }, { displayName: 'Corner' })
    const centerStage = {
      enabled: true,
      displayName: 'Stage',
      welcomeMessage: 'Ask about lamps',
      suggestedMessages: [{ type: 'single', text: 'Which lamp is brightest?', order: 1 }],
      width: 'large',
      typography: { fontFamily: 'Georgia', fontSize: '18px' },
      customSurfaceColors: { enabled: true, background: '#fdf6e3', foreground: '#073642' },
      accentColor: { enabled: true, color: '#b58900' },
      showDataSource: false,
      notificationIndicator: { enabled: true, number: 3 },
      notificationMessage: { enabled: true, text: 'Looking for a lamp?' },
    }
    const styled = await home.client.request('PUT', `/agents/${agentId}/styles`, { styles: { centerStage } })
    assert.equal(styled.status, 200)
    const visitor = await visit(home, { viewport: { width: 1000, height: 700 } })
    const { page, chat } = visitor
    const button = page.locator('parley-chat button[aria-expanded]')
    await button.getByText('3', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Looking for a lamp?' }).click()
    await chat.getByRole('heading', { name: 'Ask about lamps' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Looking for a lamp?' }).count(), 0)
    const panel = page.getByRole('dialog', { name: 'Chat with Stage' })
    await until('the panel in the middle', async () => {
      const box = await panel.boundingBox()
      return (
        box && box.width === 520 && Math.abs(box.x - 240) < 1 && Math.abs(box.y + box.height / 2 - 350) < 1
      )
    })
    home.models.queue.push({ tokens: ['The big one.'] })
    await chat.getByRole('button', { name: 'Which lamp is brightest?' }).click()
    await answered(visitor, 'The big one.')
    await idle(visitor)
    assert.deepEqual(await shown(visitor), ['Which lamp is brightest?', 'The big one.'])
    const frame = page.frames().find((one) => one.url().includes('/widget/'))
    assert.ok(frame)
    assert.deepEqual(await findings(frame), [])
    const bubble = chat.locator('[data-speaker="assistant"] > .bubble')
    const style = await bubble.evaluate((one) => {
      type Style = { fontSize: string; backgroundColor: string }
      const { getComputedStyle } = globalThis as unknown as { getComputedStyle(one: unknown): Style }
      return [getComputedStyle(one).fontSize, getComputedStyle(one).backgroundColor]
    })
    assert.deepEqual(style, ['18px', 'rgb(7, 54, 66)'])
    await page.mouse.click(20, 350)
    await panel.waitFor({ state: 'detached' })
    assert.equal(await button.getAttribute('aria-expanded'), 'false')
    await page.reload()
    await button.waitFor()
    assert.equal(await page.locator('parley-chat .hint, parley-chat .count').count(), 0)

    const open = { centerStage: { closeOnOutsideClick: false, notificationMessage: null } }
    await home.client.request('PUT', `/agents/${agentId}/styles`, { styles: open })
    const phone = await visit(home, { viewport: { width: 390, height: 700 } })
    await openChat(phone)
    const box = await phone.page.getByRole('dialog').boundingBox()
    assert.deepEqual([box?.x, box?.width, box?.height], [0, 390, 700])
    await phone.context.close()
    await visitor.context.close()
  })

  test('a browser without speech recognition shows no microphone', { skip }, async () => {
    await home.agent({ voiceSettings: {} }, { showVoiceMode: true, showDictation: true })
    const context = await home.browser.newContext()
    context.setDefaultTimeout(120_000)
    await context.addInitScript(
      'delete globalThis.SpeechRecognition; delete globalThis.webkitSpeechRecognition',
    )
    const page = await context.newPage()
    await page.goto(home.site.url)
    const visitor = { context, page, chat: page.frameLocator('iframe') }
    await openChat(visitor)
    assert.equal(await visitor.chat.getByRole('button', { name: /Dictate|Talk/ }).count(), 0)
    await context.close()
  })
})

/** Opens a source and returns, from when its quote appears, where the quote ends and where the button begins. */
const OPENED = new Function(
  'cite',
  `return new Promise((resolve) => {
    new MutationObserver((_changes, observer) => {
      const quote = document.querySelector('.preview blockquote')
      if (!quote) return
      observer.disconnect()
      const cover = document.querySelector('.to-end')?.getBoundingClientRect().top ?? Infinity
      resolve({ quote: quote.getBoundingClientRect().bottom, cover })
    }).observe(document, { childList: true, subtree: true })
    cite.click()
  })`,
) as (cite: unknown) => Promise<{ quote: number; cover: number }>

/** A fake of the Web Speech API. It recognizes two utterances and then only silence, and records what is spoken. */
const HEARING = `
  globalThis.spoken = []
  let heard = 0
  globalThis.SpeechRecognition = class {
    start() {
      if (heard++ > 1) return
      setTimeout(() => {
        this.onresult({ results: [Object.assign([{ transcript: 'Is it open?' }], { isFinal: true })] })
        this.onend()
      }, 20)
    }
    abort() { this.onend() }
  }
  Object.defineProperty(globalThis, 'speechSynthesis', { value: {
    speak(one) { spoken.push([one.text, Math.round(one.rate * 10) / 10, one.lang]); setTimeout(() => one.onend(), 20) },
    cancel() {},
  } })
`
