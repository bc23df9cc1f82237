import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import axe from 'axe-core'
import type { Frame, Page } from 'playwright-core'
import { createMember } from '../../server/accounts/members.ts'
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

describe('the chat for everybody', () => {
  let home: Awaited<ReturnType<typeof openWidgetHome>>

  before(async () => {
    if (!skip) home = await openWidgetHome()
  })
  after(() => home?.close())

  /** What a checker finds in the document that is serious or worse. */
  async function findings(where: Page | Frame): Promise<string[]> {
    await where.evaluate(axe.source)
    // Whatever fades in is looked at when it is there.
    await where.evaluate(
      'Promise.all(document.getAnimations({ subtree: true }).filter((a) => a.effect.getTiming().iterations !== Infinity).map((a) => a.finished.catch(() => {})))',
    )
    const { passes, violations } = (await where.evaluate('axe.run(document, {})')) as axe.AxeResults
    assert.ok(passes.length > 5)
    return violations
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
    test(`no barrier is found, ${theme}`, { skip }, async () => {
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

  test('the form for contact details is stored, with its conversation', { skip }, async () => {
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

  test('while a person answers, their words come in with their name', { skip }, async () => {
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
    await say(visitor, 'Are you there?')
    await visitor.chat.getByText('A person is answering').waitFor()
    const ticket = `/agents/${agentId}/helpdesk/tickets/${taken.body.data.ticketNumber}/messages`
    const reply = { content: 'Yes, I am.', authorEmail: 'ann@example.com', type: 'reply' }
    assert.equal((await home.client.request('POST', ticket, reply)).status, 201)
    await answered(visitor, 'Yes, I am.')
    await visitor.chat.getByText('Ann is answering').waitFor()
    assert.equal(await visitor.chat.getByRole('article', { name: 'Ann' }).count(), 1)
    assert.equal((await home.client.request('POST', `${path}/end`)).status, 200)
    await visitor.chat.getByText('This conversation has ended.').waitFor()
    await say(visitor, 'Hello again')
    await answered(visitor, 'Hello from the model.')
    await idle(visitor)
    assert.deepEqual(await shown(visitor), ['Hello again', 'Hello from the model.'])
    await visitor.context.close()
  })

  test('talking: what was heard is sent as spoken, and the answer is read aloud', { skip }, async () => {
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

  test('a browser that cannot hear shows no microphone', { skip }, async () => {
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

/** Ears and a voice of our own: two utterances are heard, then nothing more; what is spoken is noted. */
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
