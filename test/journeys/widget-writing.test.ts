import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createMember } from '../../server/accounts/records/members.ts'
import { findBrowser } from '../find-browser.ts'
import { until } from '../until.ts'
import { answered, idle, openChat, openWidgetHome, say, shown, visit } from '../widget-home.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the widget in a browser.'

describe('reading and writing in the chat', () => {
  let home: Awaited<ReturnType<typeof openWidgetHome>>

  before(async () => {
    if (!skip) home = await openWidgetHome()
  })
  after(() => home?.close())

  test('the greeting can be hidden on phones, and a small panel on a desktop is not a phone', {
    skip,
  }, async () => {
    const agentId = await home.agent(
      { initialMessages: ['Welcome!'] },
      { mobile: { initialMessages: { enabled: true, value: [] } } },
    )
    const desk = await visit(home)
    await openChat(desk)
    assert.deepEqual(await shown(desk), ['Welcome!'])
    await desk.page.setViewportSize({ width: 390, height: 844 })
    await until('no greeting', async () => (await shown(desk)).length === 0)
    await desk.page.goto(`${home.door.url}/widget/${agentId}`)
    await desk.page.getByLabel('Message', { exact: true }).waitFor()
    assert.equal(await desk.page.locator('.bubble').count(), 0)
    await desk.page.setViewportSize({ width: 900, height: 600 })
    await desk.page.locator('.bubble').filter({ hasText: 'Welcome!' }).waitFor()
    await desk.context.close()
  })

  test('texts have their own direction, and the controls use the language of the page', {
    skip,
  }, async () => {
    await home.agent({}, { footer: 'قد تكون الإجابات خاطئة' })
    const visitor = await visit(home)
    await visitor.page.evaluate('document.documentElement.lang = "ar"')
    await openChat(visitor, 'رسالة')
    const { chat } = visitor
    const directionOf = (selector: string): Promise<string> =>
      chat
        .locator(selector)
        .last()
        .evaluate((one) => `${one.matches(':dir(rtl)') ? 'rtl' : 'ltr'}`)
    home.models.queue.push({ tokens: ['نعم، بالطبع.\n\n- واحد\n- اثنان\n\n> اقتباس\n\nAnd one in English.'] })
    await chat.getByLabel('رسالة', { exact: true }).fill('هل أنتم مفتوحون؟')
    assert.equal(await directionOf('textarea'), 'rtl')
    await chat.getByRole('button', { name: 'إرسال', exact: true }).click()
    await answered(visitor, 'And one in English.')
    await idle(visitor)
    const found: Record<string, string> = {}
    for (const part of ['.said', '.markdown > p:first-child', 'ul', 'blockquote', '.footer']) {
      found[part] = await directionOf(`main ${part}`)
    }
    assert.deepEqual(new Set(Object.values(found)), new Set(['rtl']), JSON.stringify(found))
    assert.equal(await directionOf('.markdown > p:last-child'), 'ltr')
    assert.equal(await chat.locator('.bubble:lang(ar)').count(), 2)
    assert.equal(await chat.locator('button:not(:lang(ar))').count(), 0)
    await visitor.context.close()
  })

  test('a key press during text composition neither sends the message nor closes the chat', {
    skip,
  }, async () => {
    await home.agent()
    const visitor = await visit(home)
    await openChat(visitor)
    const field = visitor.chat.getByLabel('Message', { exact: true })
    await field.fill('にほん')
    const press = (key: string) =>
      field.evaluate((one, key) => {
        const { KeyboardEvent } = globalThis as unknown as {
          KeyboardEvent: new (type: string, init: object) => Event
        }
        const target = one as unknown as { dispatchEvent(event: Event): void }
        target.dispatchEvent(new KeyboardEvent('keydown', { key, keyCode: 229, bubbles: true }))
      }, key)
    await press('Enter')
    await press('Escape')
    assert.equal(await field.inputValue(), 'にほん')
    assert.equal(await visitor.page.locator('parley-chat button').getAttribute('aria-expanded'), 'true')
    home.models.queue.push({ tokens: ['はい'] })
    await field.press('Enter')
    await answered(visitor, 'はい')
    assert.deepEqual(await shown(visitor), ['にほん', 'はい'])
    await visitor.context.close()
  })

  test('a discarded message returns to the text field', { skip }, async () => {
    await home.agent()
    const visitor = await visit(home)
    const { chat, context } = visitor
    await openChat(visitor)
    await context.route('**/messages', (route) => route.fulfill({ status: 403, json: {} }))
    await say(visitor, 'A long and careful question')
    await chat.getByRole('alert').filter({ hasText: 'Your message was not sent.' }).waitFor()
    const field = chat.getByLabel('Message', { exact: true })
    await field.fill('And this')
    await chat.getByRole('button', { name: 'Discard' }).click()
    await chat.getByRole('alert').waitFor({ state: 'detached' })
    assert.equal(await field.inputValue(), 'A long and careful question\nAnd this')
    await context.close()
  })

  test('a message that is too long is not sent, and can be shortened', { skip }, async () => {
    await home.agent()
    const visitor = await visit(home)
    const { chat, page, context } = visitor
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await openChat(visitor)
    const field = chat.getByLabel('Message', { exact: true })
    const text = 'What does this mean? '.repeat(5_000)
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`)
    await field.focus()
    await page.keyboard.press('ControlOrMeta+v')
    const refusal = chat.getByRole('alert')
    await refusal.filter({ hasText: 'A message can have at most 8,000 characters.' }).waitFor()
    await chat.getByText('104,999 / 8,000').waitFor()
    await field.press('Enter')
    assert.ok(await chat.getByRole('button', { name: 'Send', exact: true }).isDisabled())
    assert.equal((await field.inputValue()).length, text.length)
    assert.equal(await field.getAttribute('aria-invalid'), 'true')
    home.models.queue.push({ tokens: ['It means the same.'] })
    await field.fill(text.slice(0, 7_999))
    await refusal.waitFor({ state: 'detached' })
    await field.press('Enter')
    await answered(visitor, 'It means the same.')
    await context.close()
  })

  test('a refused message returns to the text field, with the reason in the language of the page', {
    skip,
  }, async () => {
    const tooMany = { error: { code: 'RATE_LIMIT_TOO_MANY_REQUESTS', message: 'For programs.' } }
    const refusals = [
      [{ status: 413, json: {} }, 'Eine Nachricht darf höchstens 8.000 Zeichen haben. Bitte kürzen Sie sie.'],
      [{ status: 400, json: {} }, 'Der Chat kann diese Nachricht nicht annehmen.'],
    ] as const
    await home.agent()
    const visitor = await visit(home)
    const { chat, page, context } = visitor
    await page.evaluate('document.documentElement.lang = "de"')
    await openChat(visitor, 'Nachricht')
    const field = chat.getByLabel('Nachricht', { exact: true })
    for (const [answer, reason] of refusals) {
      await context.route('**/messages', (route) => route.fulfill(answer), { times: 1 })
      await field.fill('Wie lange?')
      await field.press('Enter')
      await chat.getByRole('alert').getByText(reason).waitFor()
      assert.equal(await field.inputValue(), 'Wie lange?')
      assert.equal(await chat.getByRole('button', { name: 'Erneut versuchen' }).count(), 0)
      assert.equal(await chat.locator('[data-speaker="user"]').count(), 0)
    }
    const limited = { status: 429, json: tooMany, headers: { 'retry-after': '170' } }
    await context.route('**/messages', (route) => route.fulfill(limited), { times: 1 })
    await field.press('Enter')
    const limit = 'Zu viele Nachrichten in kurzer Zeit. Bitte versuchen Sie es in 3 Minuten noch einmal.'
    await chat.getByRole('alert').getByText(limit).waitFor()
    home.models.queue.push({ tokens: ['Zwei Jahre.'] })
    await chat.getByRole('button', { name: 'Erneut versuchen' }).click()
    await answered(visitor, 'Zwei Jahre.')
    await context.close()
  })

  test('files can be dropped on the chat and pasted into its text field', { skip }, async () => {
    await home.agent({}, { showAttachments: true })
    const visitor = await visit(home)
    const { chat, page, context } = visitor
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await openChat(visitor)
    const field = chat.getByLabel('Message', { exact: true })
    const folder = await mkdtemp(join(tmpdir(), 'parley-drop-'))
    const file = join(folder, 'dropped.txt')
    await writeFile(file, 'It is broken.')
    const box = await chat.getByRole('log').boundingBox()
    const session = await context.newCDPSession(page)
    const drag = (type: 'dragEnter' | 'dragOver' | 'drop') =>
      session.send('Input.dispatchDragEvent', {
        type,
        x: (box?.x ?? 0) + 50,
        y: (box?.y ?? 0) + 50,
        data: { items: [], files: [file], dragOperationsMask: 1 },
      })
    await drag('dragEnter')
    await drag('dragOver')
    await chat.getByPlaceholder('Drop files here').waitFor()
    await drag('drop')
    await chat.getByRole('button', { name: 'Remove dropped.txt' }).waitFor()
    await chat.getByPlaceholder('Drop files here').waitFor({ state: 'detached' })

    const copy = (items: string) => page.evaluate(`navigator.clipboard.${items}`)
    const address = `data:image/png;base64,${PICTURE.toString('base64')}`
    await copy(`write([new ClipboardItem({ 'image/png': fetch('${address}').then((one) => one.blob()) })])`)
    await field.press('ControlOrMeta+v')
    await until(
      'both are there',
      async () => (await chat.locator('.picked li[aria-busy="false"]').count()) === 2,
    )
    await copy(`writeText('My lamp flickers')`)
    await field.press('ControlOrMeta+v')
    assert.equal(await field.inputValue(), 'My lamp flickers')
    home.models.queue.push({ tokens: ['I see.'] })
    await field.press('Enter')
    await answered(visitor, 'I see.')
    await idle(visitor)
    await chat.getByRole('link', { name: 'dropped.txt' }).waitFor()
    assert.equal(await chat.getByRole('img', { name: /image\.png/ }).count(), 1)

    await context.close()
    await rm(folder, { recursive: true })
  })

  test('files are selected, removed and sent; the team replies with one, and a phone shows them', {
    skip,
  }, async () => {
    const agentId = await home.agent({}, { showAttachments: true })
    const visitor = await visit(home)
    await openChat(visitor)
    const { chat } = visitor
    const pick = chat.locator('input[type=file]')
    const text = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from('It is broken.') })
    const picture = { name: 'lamp.png', mimeType: 'image/png', buffer: PICTURE }
    await pick.setInputFiles([text('setup.exe')])
    await chat.getByRole('alert').filter({ hasText: 'Files like setup.exe cannot be sent.' }).waitFor()
    await pick.setInputFiles([text('note.txt'), picture])
    await chat.getByRole('status').filter({ hasText: 'is attached' }).waitFor()
    const remove = chat.getByRole('button', { name: 'Remove note.txt' })
    await remove.focus()
    await remove.press('Enter')
    const field = chat.getByLabel('Message', { exact: true })
    await until('the field has the focus', () => field.evaluate((one) => one.matches(':focus')))
    await chat.locator('.picked li[aria-busy="false"]').waitFor()
    home.models.queue.push({ tokens: ['I see.'] })
    await field.press('Enter')
    await answered(visitor, 'I see.')
    await idle(visitor)
    assert.equal(await chat.locator('.picked li').count(), 0)
    const shownPicture = chat.getByRole('img', { name: 'lamp.png' })
    await shownPicture.waitFor()
    await until('the picture is there', () =>
      shownPicture.evaluate((one) => (one as unknown as { naturalWidth: number }).naturalWidth > 0),
    )

    const { id } = await home.service.ctx.db
      .selectFrom('conversations')
      .select('id')
      .where('agent_id', '=', agentId)
      .executeTakeFirstOrThrow()
    const account = { id: home.client.accountId, plan: 'unlimited' } as const
    await createMember(home.service.ctx.db, account, { email: 'files@example.com', name: 'Ada' })
    const path = `/agents/${agentId}`
    const author = { memberEmail: 'files@example.com' }
    const { data } = (await home.client.request('POST', `${path}/conversations/${id}/takeover`, author)).body
    const form = new FormData()
    form.set('file', new Blob(['Turn it twice.']), 'manual.txt')
    const upload = await home.client.raw('POST', `${path}/helpdesk/attachments`, { body: form })
    const file = (await upload.json()) as { id: string }
    await home.client.request('POST', `${path}/helpdesk/tickets/${data.ticketNumber}/messages`, {
      type: 'reply',
      content: 'Read this.',
      authorEmail: 'files@example.com',
      attachments: [file.id],
    })
    const link = chat.getByRole('link', { name: 'manual.txt' })
    await link.waitFor()
    const opened = await fetch(new URL((await link.getAttribute('href')) ?? '', home.door.url))
    assert.equal(await opened.text(), 'Turn it twice.')

    await visitor.page.setViewportSize({ width: 320, height: 640 })
    await pick.setInputFiles([text(`${'a-very-long-name-'.repeat(8)}.txt`)])
    await chat.locator('.picked li[aria-busy="false"]').waitFor()
    const width = await chat.locator('body').evaluate((one) => {
      const { scrollWidth, clientWidth } = one as unknown as { scrollWidth: number; clientWidth: number }
      return scrollWidth - clientWidth
    })
    assert.equal(width, 0)
    await visitor.context.close()
  })

  test('dictation uses the language of the page, and reports a denied microphone', {
    skip,
  }, async () => {
    await home.agent({}, { showDictation: true })
    const context = await home.browser.newContext()
    context.setDefaultTimeout(120_000)
    await context.addInitScript(REFUSED)
    const page = await context.newPage()
    await page.goto(home.site.url)
    await page.evaluate('document.documentElement.lang = "de-CH"')
    const chat = page.frameLocator('iframe')
    await openChat({ context, page, chat }, 'Nachricht')
    await chat.getByRole('button', { name: 'Diktieren' }).click()
    await chat
      .getByRole('alert')
      .filter({ hasText: 'Das Mikrofon ist für diesen Chat nicht freigegeben.' })
      .waitFor()
    const frame = page.frames().find((one) => one.url().includes('/widget/'))
    assert.equal(await frame?.evaluate('globalThis.heardIn'), 'de-CH')
    await context.close()
  })

  test('the status is announced outside of the log, and an opened conversation is not read out', {
    skip,
  }, async () => {
    await home.agent()
    const visitor = await visit(home)
    const { chat, context, page } = visitor
    await openChat(visitor)
    let answer = (): void => {}
    const after = new Promise<void>((resolve) => {
      answer = resolve
    })
    home.models.queue.push({ tokens: ['Yes.'], after })
    await say(visitor, 'Are you there?')
    const log = chat.getByRole('log')
    const status = chat.getByRole('status')
    await status.filter({ hasText: 'Writing an answer' }).waitFor()
    assert.equal(await log.getByText('Writing an answer').count(), 0)
    answer()
    await answered(visitor, 'Yes.')
    await idle(visitor)
    assert.equal(await log.getAttribute('aria-live'), 'polite')
    let goOn = (): void => {}
    const held = new Promise<void>((resolve) => {
      goOn = resolve
    })
    await context.route('**/conversations/*', async (route) => {
      await held
      await route.continue()
    })
    await page.reload()
    await status.filter({ hasText: 'Loading the conversation' }).waitFor()
    assert.equal(await log.getAttribute('aria-live'), 'off')
    goOn()
    await answered(visitor, 'Yes.')
    await until('news', async () => (await log.getAttribute('aria-live')) === 'polite')
    await context.close()
  })
})

/** A fake of speech recognition whose access to the microphone is denied. */
const REFUSED = `
  globalThis.SpeechRecognition = class {
    start() {
      globalThis.heardIn = this.lang
      setTimeout(() => { this.onerror({ error: 'not-allowed' }); this.onend() }, 0)
    }
    abort() { this.onend() }
  }
`

const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
)
