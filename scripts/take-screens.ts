import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { createMember } from '../server/accounts/records/members.ts'
import { trained } from '../test/until.ts'
import {
  answered,
  idle,
  openChat,
  openWidgetHome,
  say,
  type Visit,
  visit as visitWith,
} from '../test/widget-home.ts'

/** `npm run screens` takes screenshots of the widget in its various states and writes them to docs/screens. */
const folder = join(import.meta.dirname, '../docs/screens')
await mkdir(folder, { recursive: true })
const home = await openWidgetHome()
/** Opens a visit with reduced motion, so that no screenshot is taken in the middle of an animation. */
const visit = (place: typeof home, options: object) =>
  visitWith(place, { reducedMotion: 'reduce', ...options })

const ANSWER = `The **Halo** lamps differ in size and light [LAMPS]:

| Lamp | Height | Light | Price |
| :-- | --: | --: | --: |
| Halo S | 32 cm | 450 lm | €49 |
| Halo M | 41 cm | 800 lm | €69 |
| Halo L | 58 cm | 1,100 lm | €99 |

Each has a warranty of **five years**, and we repair it for as long as you keep it [WARRANTY].`

/** Returns the answer, citing the passages by the numbers with which they were sent. */
function numbered(request: { body: { messages?: unknown } }): string {
  const sent = JSON.stringify(request.body.messages).replaceAll('\\"', '"')
  const numberOf = (title: string) => new RegExp(`number="(\\d)" title="${title}`).exec(sent)?.[1] ?? '9'
  return ANSWER.replace('LAMPS', numberOf('Lamps')).replace('WARRANTY', numberOf('Warranty'))
}
home.models.otherwise((request) => ({
  tokens: [/Write a title/.test(JSON.stringify(request.body)) ? 'Halo lamps' : numbered(request)],
}))

async function agent(fields: object = {}, styles: object = {}): Promise<string> {
  const id = await home.agent(
    {
      initialMessages: ['Hello! I know our lamps. What would you like to know?'],
      suggestedMessages: [
        { type: 'single', text: 'Which lamps do you make?', order: 1 },
        { type: 'single', text: 'How long is the warranty?', order: 2 },
      ],
      ...fields,
    },
    {
      displayName: 'Bright Lamps',
      headerColor: '#0f3d3e',
      userMessageColor: '#0f766e',
      buttonColor: '#0f766e',
      ...styles,
    },
  )
  const texts = {
    'Lamps and prices':
      'The Halo lamps: Halo S is 32 cm high with 450 lumen, Halo M 41 cm with 800 lumen, Halo L 58 cm with 1,100 lumen.',
    'Warranty and repair':
      'Each Halo lamp has a warranty of five years. We repair it for as long as you keep it.',
  }
  for (const [name, content] of Object.entries(texts)) {
    const { body } = await home.client.request('POST', `/agents/${id}/sources`, {
      type: 'text',
      name,
      content,
    })
    await trained(home.service, body.id)
  }
  await home.client.request('POST', `/agents/${id}/actions`, {
    type: 'escalate',
    name: 'escalate',
    description: 'x',
  })
  return id
}

async function ask(visitor: Visit): Promise<void> {
  await say(visitor, 'Which Halo lamps do you make, and how long is the warranty?')
  await answered(visitor, 'five years')
  await idle(visitor)
}

const shoot = async (page: Page, name: string): Promise<void> => {
  await page.mouse.move(0, 0)
  await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' })
}
const viewport = { width: 1000, height: 820 }

const id = await agent()
const visitor = await visit(home, { viewport })
await openChat(visitor)
await shoot(visitor.page, 'open')
await ask(visitor)
await visitor.chat
  .getByRole('button', { name: /^Source 1/ })
  .first()
  .click()
await shoot(visitor.page, 'answer')
await visitor.chat.getByRole('button', { name: 'Dismiss the notice' }).click()
// The keyboard is used because a mouse pointer would still hover over the button when it reappears.
await visitor.chat.getByRole('button', { name: 'Talk to a person' }).press('Enter')
await visitor.chat.getByText('Nobody is here right now.').waitFor()
await shoot(visitor.page, 'waiting')
const account = { id: home.client.accountId, plan: 'unlimited' }
await createMember(home.service.ctx.db, account, { email: 'ada@example.com', name: 'Ada Okafor' })
const row = await home.service.ctx.db
  .selectFrom('conversations')
  .select('id')
  .where('agent_id', '=', id)
  .executeTakeFirstOrThrow()
const path = `/agents/${id}/conversations/${row.id}`
const taken = await home.client.request('POST', `${path}/takeover`, { memberEmail: 'ada@example.com' })
const ticket = `/agents/${id}/helpdesk/tickets/${taken.body.data.ticketNumber}/messages`
for (const content of [
  'Hello, Ada here. I have read your question.',
  'Shall I put a **Halo M** aside for you?',
])
  await home.client.request('POST', ticket, { content, authorEmail: 'ada@example.com', type: 'reply' })
await answered(visitor, 'put a Halo M aside')
await shoot(visitor.page, 'taken-over')
await home.client.request('POST', `${path}/end`)
await visitor.chat.getByText('This conversation has ended.').waitFor()
await shoot(visitor.page, 'ended')
await visitor.context.close()

await home.agent({}, {})
const fresh = await visit(home, { viewport })
await openChat(fresh)
await shoot(fresh.page, 'new-agent')
await fresh.context.close()

const dark = await agent({}, { theme: 'auto', headerColor: '#ffffff' })
const night = await visit(home, { viewport, colorScheme: 'dark' })
await openChat(night)
await ask(night)
await shoot(night.page, 'dark')
await night.context.close()

const phone = await visit(home, {
  viewport: { width: 390, height: 780 },
  isMobile: true,
  hasTouch: true,
  deviceScaleFactor: 2,
})
await openChat(phone)
await ask(phone)
await shoot(phone.page, 'phone')
await phone.context.close()

const darkPhone = await visit(home, {
  viewport: { width: 390, height: 780 },
  isMobile: true,
  hasTouch: true,
  deviceScaleFactor: 2,
  colorScheme: 'dark',
})
await home.client.request('PUT', `/agents/${dark}/styles`, { styles: { chat: { showAttachments: true } } })
await darkPhone.page.goto(`${home.door.url}/widget/${dark}`)
const pick = darkPhone.page.locator('input[type=file]')
await pick.setInputFiles([
  { name: 'lamp.png', mimeType: 'image/png', buffer: await readFile(join(folder, 'new-agent.png')) },
  { name: 'invoice.txt', mimeType: 'text/plain', buffer: Buffer.from('Halo M, 69 euros') },
])
await darkPhone.page.locator('.picked li[aria-busy="false"]').nth(1).waitFor()
home.models.queue.push({ tokens: ['Thank you. Our team will look at the picture.'] })
await darkPhone.page.getByLabel('Message', { exact: true }).fill('My lamp flickers')
await darkPhone.page.getByRole('button', { name: 'Send', exact: true }).click()
await darkPhone.page.getByText('will look at the picture').waitFor()
await darkPhone.page.getByRole('img', { name: 'lamp.png' }).waitFor()
await darkPhone.page.locator('input[type=file]').setInputFiles([
  {
    name: 'another picture.png',
    mimeType: 'image/png',
    buffer: await readFile(join(folder, 'new-agent.png')),
  },
])
await darkPhone.page.locator('.picked li[aria-busy="false"]').waitFor()
await shoot(darkPhone.page, 'files-phone-dark')
await darkPhone.context.close()

const staged = await agent()
const centerStage = {
  enabled: true,
  displayName: 'Bright Lamps',
  welcomeMessage: 'What would you like to know about our lamps?',
  suggestedMessages: [{ type: 'single', text: 'Which lamps do you make?', order: 1 }],
  notificationIndicator: { enabled: true, number: 1 },
  notificationMessage: { enabled: true, text: 'Looking for a lamp?' },
  userMessageColor: '#0f766e',
  buttonColor: '#0f766e',
  width: 'large',
}
await home.client.request('PUT', `/agents/${staged}/styles`, { styles: { centerStage } })
const stage = await visit(home, { viewport })
await stage.page.getByRole('button', { name: 'Looking for a lamp?' }).waitFor()
await shoot(stage.page, 'stage-closed')
await openChat(stage)
await stage.chat.getByRole('heading', { name: 'What would you like' }).waitFor()
await shoot(stage.page, 'stage')
await stage.context.close()

const wide = await visit(home, { viewport: { width: 1280, height: 860 } })
await wide.page.goto(`${home.door.url}/widget/${dark}`)
await wide.page.getByLabel('Message', { exact: true }).waitFor()
await wide.page
  .getByLabel('Message', { exact: true })
  .fill('Which Halo lamps do you make, and how long is the warranty?')
await wide.page.getByRole('button', { name: 'Send', exact: true }).click()
await wide.page.getByText('five years').waitFor()
await shoot(wide.page, 'page')
await wide.context.close()

await agent({ initialMessages: ['مرحبًا! أنا أعرف مصابيحنا. ماذا تريد أن تعرف؟'], suggestedMessages: null })
const arabic = await visit(home, { viewport, locale: 'ar' })
await arabic.page.evaluate("document.documentElement.lang = 'ar'")
await arabic.page.getByRole('button', { name: /^Chat with/ }).click()
await arabic.chat.getByLabel('رسالة', { exact: true }).waitFor()
home.models.queue.push({
  tokens: [
    'نعم، ضمان مصباح **Halo M** خمس سنوات [1]، ويمكنك التواصل معنا (٩–١٧).\n\n- الارتفاع: 41 cm\n- السعر: €69',
  ],
})
await arabic.chat.getByLabel('رسالة', { exact: true }).fill('ما هو ضمان مصباح Halo M؟')
await arabic.chat.getByRole('button', { name: 'إرسال', exact: true }).click()
await arabic.chat.getByText('خمس سنوات').waitFor()
await idle(arabic)
await shoot(arabic.page, 'right-to-left')
await arabic.context.close()
await home.close()
