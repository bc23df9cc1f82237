import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type Client, type Service, startService } from '../../test/start.ts'
import { until } from '../../test/until.ts'

/**
 * A program written for version 1: it uses the tables of version 1, `fetch`, and nothing of this project. Whatever only
 * the service can do (creating a key or a lead) is set up around it.
 */
let service: Service
let owner: Client

before(async () => {
  service = await startService()
  owner = await service.account()
})
after(() => service.close())

// A square PNG of one pixel.
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

test('a chatbot is created, trained, used and deleted', async () => {
  const base = `${service.url}/api/v1`
  const headers = { Authorization: `Bearer ${owner.key}` }
  // biome-ignore lint/suspicious/noExplicitAny: such a program has no types
  type Json = any
  const get = async (path: string, query: Record<string, string | number> = {}): Promise<Json> => {
    const text = new URLSearchParams(query as Record<string, string>)
    const response = await fetch(`${base}${path}?${text}`, { headers })
    assert.equal(response.status, 200, path)
    return response.json()
  }
  const send = async (method: string, path: string, body: unknown): Promise<Json> => {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    assert.ok(response.ok, `${path} ${response.status}`)
    return response.json()
  }
  const upload = async (path: string, field: string): Promise<Json> => {
    const form = new FormData()
    form.append('chatbotId', chatbotId)
    form.append(field, new Blob([Buffer.from(PIXEL, 'base64')]), 'me.png')
    return (await fetch(`${base}${path}`, { method: 'POST', headers, body: form })).json()
  }
  const remove = async (path: string): Promise<Json> =>
    (await fetch(`${base}${path}?chatbotId=${chatbotId}`, { method: 'DELETE', headers })).json()
  const trained = (): Promise<Json> =>
    until('the end of the training', async () => {
      // A key has a hundred requests in ten seconds.
      await wait(200)
      const { chatbots } = await get('/get-chatbots')
      assert.notEqual(chatbots[0].status, 'failed')
      return chatbots[0].status === 'trained' && chatbots[0]
    })

  // The chatbot answers from the text that it was created with.
  const { chatbotId } = await send('POST', '/create-chatbot', {
    chatbotName: 'Bakery',
    sourceText: 'The bakery opens at six in the morning and closes at noon.',
  })
  const made = await trained()
  assert.deepEqual(Object.keys(made), [
    'id',
    'name',
    'status',
    'model',
    'instructions',
    'visibility',
    'created_at',
    'updated_at',
  ])
  assert.deepEqual([made.id, made.name, made.visibility], [chatbotId, 'Bakery', 'private'])
  assert.equal(new Date(made.created_at).toISOString(), made.created_at)
  const messages = [
    { role: 'assistant', content: 'Hi! What can I do for you?' },
    { role: 'user', content: 'When does the bakery open?' },
  ]
  const answer = await send('POST', '/chat', { chatbotId, messages })
  assert.deepEqual(Object.keys(answer), ['text', 'sources'])
  assert.match(answer.text, /six in the morning/)

  // The text is replaced, not appended to.
  const data = { chatbotId, chatbotName: 'Library', sourceText: 'The library opens at ten o’clock.' }
  assert.deepEqual(await send('POST', '/update-chatbot-data', data), { chatbotId })
  assert.equal((await trained()).name, 'Library')
  const ask = async (content: string, more = {}): Promise<string> =>
    (await send('POST', '/chat', { chatbotId, messages: [{ role: 'user', content }], ...more })).text
  assert.match(await ask('When does the library open?'), /ten o’clock/)
  assert.doesNotMatch(await ask('When does the bakery open?'), /six in the morning/)

  // Settings.
  await send('POST', '/update-chatbot-settings', {
    chatbotId,
    name: 'City library',
    instructions: 'Be kind.',
    initialMessages: ['Hello!'],
    suggestedMessages: ['When do you open?', 'Where are you?'],
    visibility: 'public',
    domains: ['example.com'],
    ipLimit: 10,
    ipLimitTimeframe: 60,
    ipLimitMessage: 'Slowly, please.',
    model: 'auto',
    temp: 0.5,
    styles: { theme: 'dark', buttonColor: '#00ff00' },
  })
  const [settled] = (await get('/get-chatbots')).chatbots
  assert.deepEqual(
    [settled.name, settled.instructions, settled.visibility],
    ['City library', 'Be kind.', 'public'],
  )
  assert.ok(settled.updated_at > settled.created_at)
  const agent = (await owner.request('GET', `/agents/${chatbotId}`)).body
  assert.deepEqual(agent.suggestedMessages[1], { type: 'single', text: 'Where are you?', order: 1 })
  assert.deepEqual(agent.ipRateLimits, { limit: 10, timeframe: 60, message: 'Slowly, please.' })
  assert.deepEqual([agent.styles.chat.theme, agent.styles.chat.buttonColor], ['dark', '#00ff00'])
  assert.deepEqual([agent.allowedDomains, agent.initialMessages], [['example.com'], ['Hello!']])

  // Pictures.
  assert.deepEqual(Object.keys(await upload('/upload-chatbot-icon', 'chatbotIconFile')), ['message'])
  assert.deepEqual(Object.keys(await upload('/upload-chatbot-profile-picture', 'profilePictureFile')), [
    'message',
  ])
  assert.deepEqual(Object.keys(await remove('/delete-chatbot-icon')), ['message'])
  assert.deepEqual(Object.keys(await remove('/delete-chatbot-profile-picture')), ['message'])

  // Contacts and their attributes.
  const attribute = {
    name: 'plan',
    type: 'text',
    label: 'Plan',
    description: 'What they pay',
    archived: false,
  }
  const attributes = `/chatbots/${chatbotId}/custom-attributes`
  assert.deepEqual((await send('POST', attributes, attribute)).data, attribute)
  await send('PUT', `${attributes}/plan`, { label: 'Their plan' })
  assert.deepEqual((await get(attributes)).data, [{ ...attribute, label: 'Their plan' }])
  const contacts = `/chatbots/${chatbotId}/contacts`
  const created = await send('POST', contacts, {
    users: [
      { external_id: '17', name: 'Ann', email: 'ann@example.com', custom_attributes: { plan: 'gold' } },
      { external_id: '18', phonenumber: '+44 20 7946 0958' },
    ],
  })
  assert.deepEqual(Object.keys(created.data[0]), [
    'id',
    'external_id',
    'name',
    'email',
    'phonenumber',
    'custom_attributes',
    'created_at',
    'updated_at',
  ])
  await send('PATCH', `${contacts}/18`, { name: 'Bob' })
  const bob = (await get(`${contacts}/18`)).data
  assert.deepEqual([bob.name, bob.phonenumber], ['Bob', '+442079460958'])
  const listed = await get(contacts, { page: 1, per_page: 1 })
  assert.deepEqual([listed.data.length, listed.total, listed.pages], [1, 2, 2])
  const erased = await fetch(`${base}${contacts}/18`, { method: 'DELETE', headers })
  assert.deepEqual([erased.status, Object.keys((await erased.json()) as object)], [200, ['message']])

  // A conversation that is stored and streamed.
  await ask('When does the library open?', { conversationId: 'visit-1', contactId: '17' })
  const streamed = await fetch(`${base}/chat`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      chatbotId,
      conversationId: 'visit-1',
      stream: true,
      temperature: 0,
      messages: [{ role: 'user', content: 'When does the library open?' }],
    }),
  })
  assert.match(await streamed.text(), /ten o’clock/)
  const { data: conversations } = await get('/get-conversations', { chatbotId, page: 1, size: 10 })
  assert.equal(conversations.length, 1)
  assert.deepEqual(Object.keys(conversations[0]).sort(), [
    'chatbot_id',
    'created_at',
    'id',
    'messages',
    'source',
    'updated_at',
  ])
  assert.deepEqual(
    [conversations[0].id, conversations[0].chatbot_id, conversations[0].source],
    ['visit-1', chatbotId, 'api'],
  )
  assert.deepEqual(
    conversations[0].messages.map(({ role }: Json) => role),
    ['user', 'assistant', 'user', 'assistant'],
  )
  // Everything that was read can be sent back unchanged.
  const history = [...conversations[0].messages, { role: 'user', content: 'And the library closes?' }]
  assert.ok((await send('POST', '/chat', { chatbotId, messages: history })).text)

  // Leads and cleanup.
  const leadId = '01900000-0000-7000-8000-000000000001'
  await service.ctx.db
    .insertInto('leads')
    .values({ id: leadId, account_id: owner.accountId, agent_id: chatbotId, name: 'Eve', email: 'e@x.org' })
    .execute()
  const { collectedCustomers } = await get('/get-leads', { chatbotId })
  const { created_at, ...lead } = collectedCustomers[0]
  assert.equal(new Date(created_at).toISOString(), created_at)
  assert.deepEqual(lead, {
    id: leadId,
    name: 'Eve',
    email: 'e@x.org',
    phone: null,
    chatbot_id: chatbotId,
    account_id: owner.accountId,
  })
  assert.deepEqual(Object.keys(await remove('/delete-chatbot')), ['message'])
  assert.deepEqual(await get('/get-chatbots'), { chatbots: [] })
})
