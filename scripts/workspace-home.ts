import { sql } from 'kysely'
import type { Browser } from 'playwright-core'
import { createKey } from '../server/accounts/keys/keys.ts'
import { createLink, linkTo } from '../server/accounts/links/links.ts'
import { createAccount } from '../server/accounts/records/accounts.ts'
import { refreshDays } from '../server/conversations/insights/days/refresh-days.ts'
import type { AccountId } from '../server/platform/db/tables/columns.ts'
import { type ModelServer, startModelServer } from '../test/fakes/model-server.ts'
import { launchChromium } from '../test/launch-chromium.ts'
import { clientOf, type Service, startService } from '../test/start.ts'
import { until } from '../test/until.ts'

const TEXTS = {
  'Lamps and prices':
    'Halo S is 32 cm high, gives 450 lumen and costs 49 euros. Halo M is 41 cm high, gives 800 lumen and costs 69 euros. Halo L is 58 cm high, gives 1,100 lumen and costs 99 euros.',
  'Warranty and repair':
    'Each Halo lamp has a warranty of five years. After that we repair it for the price of the parts, for as long as you keep it. Send it in the box it came in.',
  'Delivery and returns':
    'Delivery takes two working days in the EU and five elsewhere. A lamp can be returned within 60 days, also when it was used. The refund arrives within a week.',
}

/** A question, its answer, the cited source, and how many days ago it was asked. */
const TALKS: [question: string, answer: string, source: string, days: number][] = [
  [
    'How long is the warranty of a Halo lamp?',
    '**Five years**, for each Halo lamp [1]. After that we repair it for the price of the parts.',
    'Warranty and repair',
    6,
  ],
  [
    'What does the Halo M cost?',
    'The Halo M costs **€69**. It is 41 cm high and gives 800 lumen [1].',
    'Lamps and prices',
    6,
  ],
  [
    'Can I return a lamp that I have used?',
    'Yes, within **60 days**, also when it was used [1]. The refund arrives within a week.',
    'Delivery and returns',
    4,
  ],
  [
    'How fast do you deliver to Norway?',
    'Outside the EU delivery takes **five working days** [1].',
    'Delivery and returns',
    2,
  ],
  ['Do you sell gift vouchers?', 'I have nothing about that in my sources.', '', 2],
  ['Hva koster Halo L?', 'Halo L koster **99 euro** [1].', 'Lamps and prices', 0],
]

const TICKETS = [
  ['My lamp flickers since yesterday', 'Maya Lindqvist', 'maya@example.com', 'high'],
  ['Invoice for order 20419', 'Jonas Weber', 'jonas@example.com', 'normal'],
  [
    'The parcel arrived without the shade, and the box was open on one side',
    '',
    'k.tanaka@example.com',
    'urgent',
  ],
  ['Wrong colour delivered', 'Ines Duarte', 'ines@example.com', 'normal'],
] as const

export type WorkspaceHome = {
  service: Service
  models: ModelServer
  browser: Browser
  agentId: string
  /** The ids of the objects that the pages show. */
  made: Record<'sourceId' | 'actionId' | 'procedureId' | 'runId', string>
  /** The storage state of a browser that is signed in as the owner. */
  session: Awaited<ReturnType<import('playwright-core').BrowserContext['storageState']>>
  close(): Promise<void>
}

// biome-ignore lint/suspicious/noExplicitAny: responses have every shape
type Send = (method: string, path: string, body?: unknown) => Promise<any>

/** Creates a workspace that looks as it would after a week of use, with its owner signed in. */
export async function openWorkspaceHome(): Promise<WorkspaceHome> {
  const models = await startModelServer()
  const service = await startService({
    OPENAI_BASE_URL: `${models.url}/v1`,
    OPENAI_API_KEY: 'sk-test',
    OPENAI_MODEL: 'house-model',
  })
  const { db } = service.ctx
  const browser = await launchChromium()
  const accountId = await createAccount(db, 'Default')
  const { token } = await createLink(db, { accountId, kind: 'set-up', createdBy: 'operator' })
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(linkTo(service.url, 'set-up', token))
  await page.getByLabel('Workspace').fill('Bright Lamps')
  await page.getByLabel('Your name').fill('Ada Okafor')
  await page.getByLabel('Email').fill('ada@example.com')
  await page.getByLabel('Password').fill('a few words in a row')
  await page.getByRole('button', { name: 'Create the workspace' }).click()
  await page.getByRole('heading', { name: 'No agent yet' }).waitFor()
  const session = await context.storageState()
  await context.close()

  const { key } = await createKey(db, accountId, { name: 'Website backend' })
  const { request } = clientOf(service.url, key)
  const send: Send = async (method, path, body) => {
    const answer = await request(method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const { id: agentId } = await send('POST', '/agents', { name: 'Lumi', visibility: 'public' })
  await send('POST', '/agents', { name: 'Help for resellers and partners' })
  const at = `/agents/${agentId}`
  await send('PUT', at, {
    instructions:
      'You are Lumi, the assistant of Bright Lamps. Be brief and friendly. Leave complaints to people.',
    initialMessages: ['Hello! I know our lamps. What would you like to know?'],
    suggestedMessages: [
      { type: 'single', text: 'Which lamps do you make?', order: 1 },
      { type: 'single', text: 'How long is the warranty?', order: 2 },
    ],
  })
  for (const [name, content] of Object.entries(TEXTS)) {
    await send('POST', `${at}/sources`, { type: 'text', name, content })
  }
  await send('POST', `${at}/sources`, {
    type: 'link',
    url: 'http://127.0.0.1:9/shop',
    linkType: 'individual',
  })
  await until('the sources', async () => {
    const { data } = await send('GET', `${at}/sources`)
    return data.every(({ status }: { status: string }) => /^(trained|failed)$/.test(status))
  })
  // The fake model titles a conversation after its question.
  models.otherwise(({ body }) => {
    const sent = JSON.stringify(body)
    return { tokens: [TALKS.find(([question]) => sent.includes(question))?.[0] ?? 'A question'] }
  })
  for (const [question, answer, source, days] of TALKS) {
    const { passages } = await send('POST', `${at}/retrieval-test`, { question })
    const place = passages.findIndex(({ sourceName }: { sourceName: string }) => sourceName === source) + 1
    models.queue.push({ tokens: [answer.replace('[1]', `[${place}]`)] })
    const { data } = await send('POST', `${at}/chat`, { message: question, stream: false })
    await moveBack(db, accountId, data.metadata.conversationId, days)
  }
  await service.ctx.indexer.run(db)
  await refreshDays(db, { impatient: true })

  await send('POST', `${at}/helpdesk/canned-replies`, {
    name: 'Ask for a picture',
    content: 'Could you send us a picture of the lamp and of its label?',
  })
  const tags: string[] = []
  for (const [name, color] of [
    ['Repair', '#0f766e'],
    ['Billing', '#b45309'],
  ]) {
    const tag = await send('POST', `${at}/helpdesk/tags`, { name, color })
    tags.push(tag.id)
  }
  for (const [number, [subject, name, email, priority]] of TICKETS.entries()) {
    const made = await send('POST', `${at}/helpdesk/tickets`, {
      subject,
      description: `${subject}. I ordered it three weeks ago and would like to know what to do now.`,
      customer: { email, ...(name ? { name } : {}) },
      priority,
      ...(number === 0 ? { assigneeEmail: 'ada@example.com' } : {}),
    })
    const ticket = `${at}/helpdesk/tickets/${made.ticketNumber}`
    if (number < 2) await send('PUT', `${ticket}/tags`, { tagIds: [tags[number]] })
    if (number > 0) continue
    const authorEmail = 'ada@example.com'
    await send('POST', `${ticket}/notes`, { content: 'Third report of batch 0419 this week.', authorEmail })
    await send('POST', `${ticket}/messages`, {
      type: 'reply',
      content:
        'Hello Maya, does it also flicker at another socket? If so we send you a **new driver** today.',
      authorEmail,
    })
  }
  for (const [name, email, city, phoneNumber] of [
    ['Maya Lindqvist', 'maya@example.com', 'Uppsala', '+46701234567'],
    ['Jonas Weber', 'jonas@example.com', 'Graz', undefined],
    ['Ines Duarte', 'ines@example.com', 'Porto', '+351912345678'],
  ] as const) {
    await send('POST', `${at}/contacts`, {
      externalId: `shop-${city.toLowerCase()}`,
      name,
      email,
      ...(phoneNumber && { phoneNumber }),
    })
  }
  const made = await makeTools(send, at)
  return {
    service,
    models,
    browser,
    agentId,
    made,
    session,
    async close() {
      await browser.close()
      await service.close()
      await models.close()
    },
  }
}

/** Changes the date of a conversation to an earlier day, so that the figures of a week are not empty. */
async function moveBack(
  db: Service['ctx']['db'],
  accountId: AccountId,
  conversationId: string,
  days: number,
): Promise<void> {
  const ago = sql`make_interval(days => ${days}::integer)`
  await sql`update conversations set created_at = created_at - ${ago}, updated_at = updated_at - ${ago}
    where account_id = ${accountId} and id = ${conversationId}`.execute(db)
  await sql`update messages set created_at = created_at - ${ago}
    where account_id = ${accountId} and conversation_id = ${conversationId}`.execute(db)
}

/** Adds an action, a procedure that names it, and evaluation questions with a run. */
async function makeTools(send: Send, at: string): Promise<WorkspaceHome['made']> {
  const { data: sources } = await send('GET', `${at}/sources`)
  const sourceOf = (name: string): string =>
    sources.find((one: { name: string }) => one.name === name)?.id ?? ''
  const sourceId = sourceOf('Warranty and repair')
  const number = { type: 'integer', description: 'The number of the order' }
  const { id: actionId } = await send('POST', `${at}/actions`, {
    name: 'look_up_order',
    type: 'http',
    description: 'When somebody asks where an order is.',
    inputs: { type: 'object', properties: { number }, required: ['number'] },
    http: { method: 'GET', url: 'https://shop.example.com/orders/{{number}}' },
  })
  const { id: procedureId } = await send('POST', `${at}/procedures`, {
    name: 'Late order',
    trigger: 'Somebody says that an order has not arrived.',
    steps: [
      { instruction: 'Look the order up.', action: 'look_up_order' },
      'Say when it will arrive, and say sorry.',
    ],
  })
  for (const [question, expected] of [
    ['How long is the warranty of a Halo lamp?', 'Warranty and repair'],
    ['Can I return a lamp that I have used?', 'Delivery and returns'],
    ['Do you have a lamp with a USB socket?', 'Lamps and prices'],
  ] as const) {
    await send('POST', `${at}/evaluations`, { question, expectedSourceId: sourceOf(expected) })
  }
  const { id: runId } = await send('POST', `${at}/evaluation-runs`, { note: 'Before the new catalogue' })
  return { sourceId, actionId, procedureId, runId }
}
