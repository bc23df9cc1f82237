import assert from 'node:assert/strict'
import { createHmac, randomUUID } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { NEVER, tokens } from '../../../test/fakes/reply.ts'
import { readStream } from '../../../test/read-stream.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { trained, until } from '../../../test/until.ts'
import { publicAgent, type Visitor, visitorOf } from '../../../test/visitor.ts'
import { changePlan } from '../../accounts/records/accounts.ts'
import { createMember } from '../../accounts/records/members.ts'
import { CUSTOMER_SENTENCES } from '../../platform/text/languages/customer-sentences.ts'
import { answerConversation } from '../replies/answer-conversation.ts'
import { answerForgotten } from '../replies/answer-forgotten.ts'
import { endIdle } from '../replies/end-idle.ts'
import { dropOldIdentities } from './identity/identify-visitor.ts'

let models: ModelServer
let service: Service
let client: Client
let agentId: string
let visitor: Visitor

before(async () => {
  models = await startModelServer()
  service = await startService(models.settings)
})
after(async () => {
  await service.close()
  await models.close()
})
beforeEach(async () => {
  client = await service.account()
  agentId = await publicAgent(client)
  visitor = visitorOf(service, agentId)
  models.queue.length = 0
  models.requests.length = 0
  models.otherwise(() => ({ tokens: ['Yes.'] }))
})

const agent = () => `/agents/${agentId}`
const rows = () =>
  service.ctx.db.selectFrom('conversations').selectAll().where('agent_id', '=', agentId).execute()
/** Returns the conversation once nothing is being written in it. */
const settled = (of: Visitor, id: string) =>
  until('the end of the answer', async () => {
    const conversation = await of.read(id)
    return conversation.answering || conversation.messages.at(-1).role === 'user' ? null : conversation
  })
const said = (conversation: { messages: { role: string; text: string }[] }) =>
  conversation.messages.map(({ role, text }) => `${role}: ${text}`)

test('a visitor writes, follows the answer, and finds it again; nobody else does', async () => {
  const { promise: now, resolve: release } = Promise.withResolvers<void>()
  models.queue.push({ tokens: tokens(5), after: now })
  const { conversationId, answering } = await visitor.write('Hello?')
  assert.equal(answering, true)
  const response = await visitor.follow(conversationId)
  release()
  const streamed = await readStream(response)
  assert.equal(streamed.text, tokens(5).join(''))
  assert.doesNotMatch(JSON.stringify(streamed.events), /credits|visitor-/)
  const conversation = await settled(visitor, conversationId)
  assert.deepEqual(said(conversation), ['user: Hello?', `assistant: ${tokens(5).join('').trim()}`])
  assert.equal(conversation.status, 'ongoing')
  assert.equal((await visitor.follow(conversationId)).status, 204)
  const { body } = await visitor.request('GET', '/conversations')
  assert.deepEqual(
    body.data.map(({ id, title }: { id: string; title: string }) => [id, title.length > 0]),
    [[conversationId, true]],
  )

  const other = visitorOf(service, agentId)
  assert.deepEqual((await other.request('GET', '/conversations')).body.data, [])
  const path = `/conversations/${conversationId}`
  const answer = conversation.messages[1].id
  for (const [method, below, sent] of [
    ['GET', '', undefined],
    ['GET', '/stream', undefined],
    ['POST', '/stop', {}],
    ['POST', '/tool-result', { toolCallId: 'x' }],
    ['PATCH', `/messages/${answer}/feedback`, { feedback: 'negative' }],
  ] as const)
    assert.equal((await other.request(method, `${path}${below}`, sent)).status, 404, below)
  await assert.rejects(other.write('Mine', { conversationId }), /404/)

  for (const id of ['x', randomUUID()])
    assert.equal((await visitor.request('GET', `/conversations/${id}`)).status, 404, id)

  const [row] = await rows()
  assert.equal(row?.source, 'Widget or Iframe')
  assert.match(row?.user_id ?? '', /^visitor-[\w-]{43}$/)
  const exported = await client.request('GET', `${agent()}/conversations/export?source=Widget or Iframe`)
  assert.equal(exported.body.data[0].id, conversationId)
  const more = { conversationId, message: 'And?', stream: false }
  const continued = await client.request('POST', `${agent()}/chat`, more)
  assert.deepEqual([continued.status, continued.body.data?.metadata.conversationId], [200, conversationId])
  const retry = { messageId: continued.body.data.id, stream: false }
  assert.equal((await client.request('POST', `${agent()}${path}/retry`, retry)).status, 200)
})

test('a conversation stores the embedding page without query and fragment', async () => {
  const long = `https://shop.example/${'a'.repeat(3000)}`
  const pages: [page: string | undefined, origin: string | null][] = [
    ['https://shop.example/lamps/desk?user=ann#top', 'https://shop.example/lamps/desk'],
    ['http://user:secret@shop.example:8080/?q=1', 'http://shop.example:8080'],
    [long, 'https://shop.example'],
    ['javascript:alert(1)', null],
    ['null', null],
    [undefined, null],
  ]
  for (const [page, origin] of pages) {
    const { conversationId } = await visitor.write('Hello?', page === undefined ? {} : { page })
    const path = `${agent()}/conversations/export?conversationId=${conversationId}`
    const { body } = await client.request('GET', path)
    assert.equal(body.data[0].embedOrigin, origin)
  }
})

test('a private agent and a malformed secret are rejected with a message', async () => {
  const hidden = (await client.request('POST', '/agents', { name: 'Hidden' })).body.id
  const refused = await service.anonymous('GET', `/api/widget/agents/${hidden}`)
  assert.deepEqual([refused.status, refused.body.error.code], [404, 'AGENT_NOT_FOUND'])
  assert.equal((await service.anonymous('GET', `/api/widget${agent()}`)).status, 200)
  const path = `/api/widget${agent()}/conversations`
  assert.equal((await service.anonymous('GET', path)).body.error.code, 'AUTH_MISSING_API_KEY')
  for (const authorization of ['Bearer short', `Bearer ${client.key}`, 'Basic abc']) {
    const { status, body } = await service.anonymous('GET', path, undefined, { authorization })
    assert.deepEqual([status, body.error.code], [401, 'AUTH_INVALID_API_KEY'])
  }
})

test('a message that is resent, even concurrently, is stored and answered once', async () => {
  const messageId = randomUUID()
  const send = () => visitor.write('Once?', { messageId })
  const answers = await Promise.all([send(), send(), send()])
  const again = await send()
  assert.equal(new Set([...answers, again].map(({ conversationId }) => conversationId)).size, 1)
  const conversation = await settled(visitor, again.conversationId)
  assert.deepEqual(said(conversation), ['user: Once?', 'assistant: Yes.'])
  await send()
  assert.equal((await visitor.read(again.conversationId)).messages.length, 2)
  for (const id of [`urn:uuid:${randomUUID()}`, randomUUID().toUpperCase(), 'x'])
    await assert.rejects(visitor.write('Odd', { messageId: id }), /UUID in small letters/)
  const other = await visitorOf(service, agentId).request('POST', '/messages', { messageId, message: 'Mine' })
  assert.deepEqual([other.status, other.body.error.code], [409, 'RESOURCE_DUPLICATE'])
  for (const changed of [{ message: 'Twice?' }, { message: 'Once?', attachments: [randomUUID()] }]) {
    const { status, body } = await visitor.request('POST', '/messages', { messageId, ...changed })
    assert.deepEqual([status, body.error?.code], [409, 'RESOURCE_DUPLICATE'], JSON.stringify(changed))
  }
  assert.equal((await rows()).length, 1)
})

test('a reader that reconnects gets exactly what it missed; stopping keeps the text so far', async () => {
  const { promise: now, resolve: release } = Promise.withResolvers<void>()
  models.queue.push({ tokens: tokens(12), after: now })
  const { conversationId } = await visitor.write('Long?')
  const first = await visitor.follow(conversationId)
  const second = await visitor.follow(conversationId, '3')
  release()
  const { events } = await readStream(second, 3)
  assert.equal(events[0]?.id, '4')
  assert.ok((await first.text()).includes('token11'))

  models.queue.push({ tokens: tokens(3), after: NEVER })
  await visitor.write('Stop me', { conversationId })
  const { body } = await visitor.request('POST', `/conversations/${conversationId}/stop`)
  assert.deepEqual(body, { data: { stopped: true } })
})

test('while a person has the conversation, the agent is silent, and the visitor sees who answers', async () => {
  const { conversationId } = await visitor.write('A person, please')
  await settled(visitor, conversationId)
  const account = { id: client.accountId, plan: 'unlimited' }
  await createMember(service.ctx.db, account, { email: 'ann@example.com', name: 'Ann' })
  const path = `${agent()}/conversations/${conversationId}`
  const taken = await client.request('POST', `${path}/takeover`, { memberEmail: 'ann@example.com' })
  const { answering } = await visitor.write('Are you there?', { conversationId })
  assert.equal(answering, false)
  const tickets = `${agent()}/helpdesk/tickets/${taken.body.data.ticketNumber}/messages`
  const message = { content: 'Yes, I am.', authorEmail: 'ann@example.com', type: 'reply' }
  const replied = await client.request('POST', tickets, message)
  assert.equal(replied.status, 201, JSON.stringify(replied.body))
  const { status, messages } = await visitor.read(conversationId)
  assert.equal(status, 'taken_over')
  assert.deepEqual([messages.at(-1).text, messages.at(-1).author], ['Yes, I am.', 'Ann'])
  const onTicket = (await client.request('GET', tickets)).body.data.map(
    (one: { contentText: string }) => one.contentText,
  )
  assert.ok(onTicket.includes('Are you there?'), JSON.stringify(onTicket))

  assert.equal((await client.request('POST', `${path}/end`)).status, 200)
  const next = await visitor.write('Hello again', { conversationId })
  assert.notEqual(next.conversationId, conversationId)
  assert.equal(next.answering, true)
  const begun = (await rows()).find(({ id }) => id === next.conversationId)
  assert.equal(begun?.parent_conversation_id, conversationId)
})

test("a visitor sees nothing of the agent's own actions, and the page runs its client actions", async () => {
  for (const action of [
    { type: 'client', name: 'read_title', description: 'Reads the title of the page' },
    { type: 'collect-leads', name: 'note_lead', description: 'Notes who asks' },
  ]) {
    const inputs = action.type === 'client' ? { inputs: { type: 'object', properties: {} } } : {}
    const made = await client.request('POST', `${agent()}/actions`, { ...action, ...inputs })
    assert.equal(made.status, 201, JSON.stringify(made.body))
  }
  const { promise: now, resolve: release } = Promise.withResolvers<void>()
  models.queue.push(
    { after: now, toolCalls: [{ id: 'c1', name: 'note_lead', input: { email: 'eve@example.org' } }] },
    { tokens: ['One moment.'], toolCalls: [{ id: 'c2', name: 'read_title', input: {} }], delayMs: 40 },
    { tokens: [' It is called Shop.'] },
  )
  const { conversationId } = await visitor.write('What is this page?')
  const stream = await visitor.follow(conversationId)
  release()
  const text = await stream.text()
  assert.match(text, /One moment/)
  assert.doesNotMatch(text, /event: tool-|eve@example/)
  const waiting = await settled(visitor, conversationId)
  const [call] = waiting.messages.at(-1).pendingCalls
  assert.deepEqual([call.toolName, call.input], ['read_title', {}])
  assert.doesNotMatch(JSON.stringify(waiting), /eve@example/)

  const path = `/conversations/${conversationId}/tool-result`
  const result = { toolCallId: call.toolCallId, output: { title: 'Shop' } }
  assert.deepEqual((await visitor.request('POST', path, result)).body, { data: { answering: true } })
  const done = await until('the rest of the answer', async () => {
    const conversation = await visitor.read(conversationId)
    return conversation.answering ? null : conversation
  })
  assert.deepEqual(said(done).at(-1), 'assistant: One moment.\n\nIt is called Shop.')
  assert.deepEqual(done.messages.at(-1).pendingCalls, [])
  const again = await visitor.request('POST', path, result)
  assert.equal(again.body.error.code, 'RESOURCE_TOOL_CALL_NOT_FOUND')
})

test('a page that continues the agent endlessly is stopped after eight times', async () => {
  const action = { type: 'client', name: 'again', description: 'Calls again', inputs: { type: 'object' } }
  await client.request('POST', `${agent()}/actions`, action)
  models.otherwise(() => ({ toolCalls: [{ id: 'c', name: 'again', input: {} }] }))
  const { conversationId } = await visitor.write('Go on')
  const path = `/conversations/${conversationId}/tool-result`
  let rounds = 0
  for (let answering = true; answering; rounds++) {
    const { messages } = await settled(visitor, conversationId)
    const [call] = messages.at(-1).pendingCalls
    const { body } = await visitor.request('POST', path, { toolCallId: call.toolCallId, output: 'again' })
    answering = body.data.answering
  }
  assert.equal(rounds, 9)
  const large = await visitor.request('POST', path, { toolCallId: randomUUID(), output: 'x'.repeat(70_000) })
  assert.equal(large.status, 413)
  // The next message starts a new conversation.
  await visitor.write('And now?', { conversationId })
  assert.equal((await settled(visitor, conversationId)).messages.at(-1).pendingCalls.length, 1)
})

test('unknown call ids are rejected at once, even during an answer', async () => {
  models.queue.push({ tokens: tokens(3), after: NEVER })
  const { conversationId } = await visitor.write('Hello?')
  const path = `/conversations/${conversationId}/tool-result`
  assert.equal((await visitor.request('POST', path, { toolCallId: 'x' })).status, 404)
  const waiting = Array.from({ length: 20 }, () =>
    visitor.request('POST', path, { toolCallId: randomUUID() }),
  )
  await visitor.request('POST', `/conversations/${conversationId}/stop`)
  assert.deepEqual([...new Set((await Promise.all(waiting)).map(({ status }) => status))], [404])
})

test('a message stopped before its first word stays unanswered until it is asked again', async () => {
  const { db } = service.ctx
  const messageId = randomUUID()
  for (let stops = 0; stops < 5; stops++) {
    models.queue.push({ tokens: tokens(3), after: NEVER })
    const { conversationId, answering } = await visitor.write('Never mind', { messageId })
    assert.equal(answering, true)
    await visitor.request('POST', `/conversations/${conversationId}/stop`)
    await db
      .updateTable('conversations')
      .set({ updated_at: new Date(Date.now() - 60_000) })
      .where('id', '=', conversationId)
      .execute()
  }
  const [row] = await rows()
  await answerForgotten(service.ctx)
  assert.equal(await answerConversation(service.ctx, { conversationId: row!.id }), false)
  const tickets = await client.request('GET', `${agent()}/helpdesk/tickets?includeTotal=true`)
  assert.deepEqual(tickets.body.data, [])
  // The stop may have come before the model was called.
  models.queue.length = 0
  await visitor.write('Never mind', { messageId })
  assert.deepEqual(said(await settled(visitor, row!.id)), ['user: Never mind', 'assistant: Yes.'])
})

test('when the agent cannot answer, the team is asked', async () => {
  await client.request('PUT', agent(), { model: 'fake' })
  await changePlan(service.ctx.db, client.accountId, 'free')
  const { answering } = await visitor.write('Hello?')
  assert.equal(answering, false)
  // The plan that excludes the model excludes this version of the API, too, once keys are checked again.
  await changePlan(service.ctx.db, client.accountId, 'unlimited')
  const [ticket] = await until('the tickets', async () => {
    const { body } = await client.request('GET', `${agent()}/helpdesk/tickets`)
    return body.data
  })
  const read = await client.request('GET', `${agent()}/helpdesk/tickets/${ticket.ticketNumber}`)
  assert.match(read.body.description, /not in the plan/)
})

test('two tabs that write after the end share one new conversation', async () => {
  const { conversationId } = await visitor.write('One')
  await settled(visitor, conversationId)
  await client.request('POST', `${agent()}/conversations/${conversationId}/end`)
  const both = await Promise.all(['Two', 'Three'].map((text) => visitor.write(text, { conversationId })))
  assert.equal(new Set(both.map((one) => one.conversationId)).size, 1)
  assert.notEqual(both[0]?.conversationId, conversationId)
})

test('the lead form exists with its action, and its leads are found in both versions', async () => {
  const send = (body: object) => visitor.request('POST', '/leads', body)
  const form = async () => (await visitor.request('GET', '')).body.leadForm
  assert.equal(await form(), null)
  assert.equal((await send({ email: 'eve@example.org' })).status, 404)
  const action = { type: 'collect-leads', name: 'leads', description: 'Notes who asks' }
  const { id } = (await client.request('POST', `${agent()}/actions`, { ...action, channels: ['messaging'] }))
    .body
  assert.equal(await form(), null)
  await client.request('PUT', `${agent()}/actions/${id}`, { channels: ['messaging', 'chat_widget'] })
  assert.deepEqual(await form(), { fields: ['name', 'email', 'phone'] })

  const { conversationId } = await visitor.write('Call me')
  for (const [body, field] of [
    [{ name: 'Eve' }, 'email'],
    [{ email: 'nobody' }, 'email'],
    [{ phone: '12' }, 'phone'],
  ] as const) {
    const { status, body: refused } = await send(body)
    assert.equal(status, 400)
    assert.ok(refused.error.details[field], JSON.stringify(refused))
  }
  assert.equal((await send({ email: 'a@example.org', conversationId: randomUUID() })).status, 404)
  const lead = { name: 'Eve', email: 'EVE@example.org', phone: '+49 30 901820', conversationId }
  assert.equal((await send(lead)).status, 201)
  const listed = await client.request('GET', `/api/v1/get-leads?chatbotId=${agentId}`)
  const [found] = listed.body.collectedCustomers
  assert.deepEqual([found.name, found.email, found.phone], ['Eve', 'eve@example.org', '+4930901820'])
  assert.equal((await send({ email: 'ann@example.org' })).status, 201)
  const again = await client.request('GET', `/api/v1/get-leads?chatbotId=${agentId}&size=1`)
  const [bare] = again.body.collectedCustomers
  assert.deepEqual([bare.name, bare.email, bare.phone], [null, 'ann@example.org', null])
})

test("the owner's rate limit is reported with the owner's message", async () => {
  const ipRateLimits = { limit: 2, timeframe: 3_600, message: 'One thing at a time!' }
  const shown = async () => (await visitor.request('GET', '')).body.limitMessage
  assert.equal(await shown(), null)
  await client.request('PUT', agent(), { ipRateLimits })
  assert.equal(await shown(), ipRateLimits.message)
  const { conversationId } = await visitor.write('One')
  await settled(visitor, conversationId)
  await visitor.write('Two', { conversationId })
  const refused = await visitorOf(service, agentId).request('POST', '/messages', {
    messageId: randomUUID(),
    message: 'Three',
  })
  assert.deepEqual([refused.status, refused.body.error.message], [429, 'One thing at a time!'])
  assert.ok(Number(refused.headers.get('retry-after')) > 3_000)
})

test('spoken messages are marked, searchable, and answered with the voice instructions', async () => {
  const channelInstructions = { chat_widget: { chat: 'Use a list.', voice: 'Speak in short sentences.' } }
  const voiceSettings = { transcriber: { language: 'en-GB' }, initialMessage: 'I am listening.' }
  await client.request('PUT', agent(), { channelInstructions, voiceSettings })
  await client.request('PUT', `${agent()}/styles`, { styles: { chat: { showVoiceMode: true } } })
  const { voice } = (await visitor.request('GET', '')).body
  assert.deepEqual(voice, {
    language: 'en-GB',
    speed: 1,
    initialMessage: 'I am listening.',
    errorMessage: null,
  })
  const typed = await visitor.write('I type')
  await settled(visitor, typed.conversationId)
  const spoken = await visitor.write('I speak', { voice: true })
  await settled(visitor, spoken.conversationId)
  const systemOf = (text: string) =>
    JSON.stringify(models.requests.find(({ body }) => JSON.stringify(body).includes(text))?.body)
  assert.match(systemOf('I type'), /Use a list/)
  assert.match(systemOf('I speak'), /short sentences/)
  await service.ctx.indexer.run(service.ctx.db)
  const found = await client.request('GET', `${agent()}/conversations/search?hasVoice=true`)
  assert.deepEqual(
    found.body.data.map(({ id }: { id: string }) => id),
    [spoken.conversationId],
  )
})

test('the chat in the middle of the page is a separate channel', async () => {
  const channelInstructions = { chat_widget: 'Speak of the corner.', center_stage: 'Speak of the middle.' }
  await client.request('PUT', agent(), { channelInstructions })
  for (const [name, type, channels] of [
    ['corner_call', 'client', ['chat_widget']],
    ['middle_call', 'client', ['center_stage']],
    ['to_a_person', 'escalate', ['center_stage']],
  ]) {
    const inputs = type === 'client' ? { inputs: { type: 'object' } } : {}
    const action = { name, type, description: 'x', channels, ...inputs }
    const { status } = await client.request('POST', `${agent()}/actions`, action)
    assert.equal(status, 201)
  }
  const mayEscalate = async () => (await visitor.request('GET', '')).body.mayEscalate
  const askedWith = (text: string) =>
    JSON.stringify(models.requests.find(({ body }) => JSON.stringify(body).includes(text))?.body)
  const corner = await visitor.write('In the corner')
  await settled(visitor, corner.conversationId)
  assert.match(askedWith('In the corner'), /Speak of the corner.*corner_call/)
  assert.doesNotMatch(askedWith('In the corner'), /of the middle|middle_call/)
  assert.equal(await mayEscalate(), false)
  assert.equal((await visitor.request('POST', '/person', {})).status, 404)

  await client.request('PUT', `${agent()}/styles`, { styles: { centerStage: { enabled: true } } })
  models.queue.push({ toolCalls: [{ id: 'c', name: 'middle_call', input: {} }] })
  const { conversationId } = await visitor.write('In the middle')
  const [call] = await until('the call', async () => {
    const { pendingCalls = [] } = (await visitor.read(conversationId)).messages.at(-1) ?? {}
    return pendingCalls.length > 0 && pendingCalls
  })
  assert.match(askedWith('In the middle'), /Speak of the middle.*middle_call/)
  assert.doesNotMatch(askedWith('In the middle'), /of the corner|corner_call/)
  const result = { toolCallId: call.toolCallId, output: 'It was done' }
  await visitor.request('POST', `/conversations/${conversationId}/tool-result`, result)
  await until('the answer goes on', () =>
    models.requests.some(({ body }) => /It was done/.test(JSON.stringify(body))),
  )
  assert.match(askedWith('It was done'), /Speak of the middle/)
  await settled(visitor, conversationId)
  assert.equal(await mayEscalate(), true)
  await visitor.request('POST', '/person', { conversationId })
  const { body } = await client.request('GET', `${agent()}/helpdesk/tickets`)
  assert.deepEqual(
    body.data.map(({ channel }: { channel: string }) => channel),
    ['center_stage'],
  )
})

test('spam is stored and not answered; a rating is stored with its message', async () => {
  await client.request('PUT', agent(), {
    model: 'builtin',
    spamSettings: { enabled: true, prompt: 'casino' },
  })
  const spam = await visitor.write('Win at our casino')
  assert.equal(spam.answering, false)
  assert.equal((await visitor.read(spam.conversationId)).status, 'paused')
  const { conversationId } = await visitorOf(service, agentId).write('Hello')
  assert.ok(conversationId)

  const honest = await visitor.write('How are you?')
  const { messages } = await settled(visitor, honest.conversationId)
  const path = `/conversations/${honest.conversationId}/messages/${messages[1].id}/feedback`
  assert.equal((await visitor.request('PATCH', path, { feedback: 'positive' })).status, 200)
  assert.equal((await visitor.read(honest.conversationId)).messages[1].feedback, 'positive')
})

test('an idle chat ends after a day, and a lost answer is generated', async () => {
  const { db } = service.ctx
  const { conversationId } = await visitor.write('Hello?')
  await settled(visitor, conversationId)
  const age = (ms: number) =>
    db
      .updateTable('conversations')
      .set({ updated_at: new Date(Date.now() - ms) })
      .where('id', '=', conversationId)
      .execute()
  // Simulates a process that died after storing the message.
  await db
    .deleteFrom('messages')
    .where('conversation_id', '=', conversationId)
    .where('role', '=', 'assistant')
    .execute()
  await db
    .updateTable('generations')
    .set({ message_state: 'none', status: 'interrupted' })
    .where('conversation_id', '=', conversationId)
    .execute()
  await db.updateTable('conversations').set({ answered_seq: 0 }).where('id', '=', conversationId).execute()
  await age(60_000)
  await answerForgotten(service.ctx)
  await settled(visitor, conversationId)

  await age(23.9 * 3_600_000)
  await endIdle(db)
  assert.equal((await visitor.read(conversationId)).status, 'ongoing')
  await age(24.1 * 3_600_000)
  await endIdle(db)
  assert.equal((await visitor.read(conversationId)).status, 'ended')
})

test('during maintenance nothing is read or written', async () => {
  await service.ctx.maintenance.set(true)
  try {
    assert.equal((await visitor.request('GET', '')).status, 503)
    await assert.rejects(visitor.write('Hello'), /503/)
  } finally {
    await service.ctx.maintenance.set(false)
  }
})

/** The versions of a conversation that are sent to readers. */
async function follow(of: Visitor, conversationId: string) {
  const response = await of.raw(`/conversations/${conversationId}/events`)
  assert.equal(response.headers.get('content-type'), 'text/event-stream')
  const versions: string[] = []
  const controller = new AbortController()
  const reading = (async () => {
    const reader = response.body!.getReader()
    controller.signal.addEventListener('abort', () => void reader.cancel())
    const decoder = new TextDecoder()
    for (let text = ''; ; ) {
      const { done, value } = await reader.read()
      if (done) return
      text += decoder.decode(value, { stream: true })
      versions.splice(
        0,
        versions.length,
        ...[...text.matchAll(/"version":"([^"]+)"/g)].map(([, one]) => one!),
      )
    }
  })()
  return {
    versions,
    async end() {
      controller.abort()
      await reading.catch(() => {})
    },
  }
}

test("a visitor who waits for a person is told of the takeover, each reply, and the team's presence", async () => {
  const { conversationId } = await visitor.write('Hello?')
  const first = await settled(visitor, conversationId)
  assert.equal(first.help, null)
  assert.equal((await visitor.request('POST', '/person', { conversationId })).status, 404, 'may not escalate')
  const escalate = { name: 'escalate', type: 'escalate', description: 'x', enabled: true }
  assert.equal((await client.request('POST', `${agent()}/actions`, escalate)).status, 201)
  const stream = await follow(visitor, conversationId)
  const stranger = visitorOf(service, agentId)
  assert.equal((await stranger.raw(`/conversations/${conversationId}/events`)).status, 404)
  await until(
    'the first version',
    async () => stream.versions.at(-1) === (await visitor.read(conversationId)).version,
  )

  const days = Object.fromEntries(
    ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'].map((day) => [
      day,
      [{ from: '00:00', to: '00:10' }],
    ]),
  )
  const noon = new Date().getUTCHours() < 12 ? 'Etc/GMT-12' : 'Etc/GMT+0'
  const hours = { timeZone: noon, days, holidays: [] }
  assert.equal(
    (await client.request('PUT', `${agent()}/helpdesk/settings`, { businessHours: hours })).status,
    200,
  )
  const asked = await visitor.request('POST', '/person', { conversationId })
  assert.deepEqual([asked.status, asked.body.data], [201, { conversationId }])
  await visitor.request('POST', '/person', { conversationId })
  const waiting = await visitor.read(conversationId)
  assert.deepEqual(
    [waiting.help.state, waiting.help.isStaffed, Date.parse(waiting.help.opensAt) > Date.now()],
    ['waiting', false, true],
  )
  await until('the news that somebody waits', async () => stream.versions.at(-1) === waiting.version)

  const member = await createMember(
    service.ctx.db,
    { id: client.accountId, plan: 'standard' },
    { email: 'ada@example.com', name: 'Ada' },
  )
  const { id: memberId } = member as { id: string }
  const taken = await client.request('POST', `${agent()}/conversations/${conversationId}/takeover`, {
    memberId,
  })
  const { ticketNumber } = taken.body.data
  assert.equal(ticketNumber, 1, 'one ticket, however often one asks')
  await until('the takeover', async () => {
    const { help, version } = await visitor.read(conversationId)
    // Ada has not said that she is there, but she is for this visitor.
    assert.ok(help.state !== 'taken_over' || help.isStaffed)
    return help.state === 'taken_over' && help.name === 'Ada' && stream.versions.at(-1) === version
  })
  const reply = { type: 'reply', content: 'Hello, this is Ada.', authorId: memberId }
  await client.request('POST', `${agent()}/helpdesk/tickets/${ticketNumber}/messages`, reply)
  await until('the reply', async () => {
    const { messages, version } = await visitor.read(conversationId)
    return messages.at(-1).author === 'Ada' && stream.versions.at(-1) === version
  })
  await client.request('POST', `${agent()}/conversations/${conversationId}/handback`)
  await until('the hand-back', async () => {
    const { help, version } = await visitor.read(conversationId)
    return help === null && stream.versions.at(-1) === version
  })
  await stream.end()

  const fresh = (await stranger.request('POST', '/person', {})).body.data.conversationId
  assert.equal((await stranger.read(fresh)).help.state, 'waiting')
})

test('the built-in responder offers a person where one can be called, and a message without words goes to the team', async () => {
  const own = await service.account()
  const id = await publicAgent(own, { model: 'builtin' })
  const source = { type: 'text', name: 'Lamp', content: 'The lamp weighs two kilograms.' }
  await trained(service, (await own.request('POST', `/agents/${id}/sources`, source)).body.id)
  const guest = visitorOf(service, id)
  const say = async (message: string): Promise<string> => {
    const { messages } = await settled(guest, (await guest.write(message)).conversationId)
    return messages.at(-1).text
  }
  const { notFound, offer, hello, passedOn } = CUSTOMER_SENTENCES.en
  assert.equal(
    await say('Who has painted the Mona Lisa?'),
    notFound,
    'nobody is offered who cannot be called',
  )
  assert.equal(await say('👋'), hello)
  const action = { name: 'people', type: 'escalate', description: 'x', enabled: true }
  await own.request('POST', `/agents/${id}/actions`, action)
  const tickets = async () => (await own.request('GET', `/agents/${id}/helpdesk/tickets`)).body.data
  assert.equal(await say('Who has painted the Mona Lisa?'), `${notFound} ${offer}`)
  assert.equal(await say('Hi'), hello)
  assert.deepEqual(await tickets(), [])
  assert.match(await say('😢'), new RegExp(`^${passedOn}`))
  assert.equal((await tickets()).length, 1)
})

test('files of a visitor are in the transcript, the help desk and the export, and private', async () => {
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
    'base64',
  )
  assert.equal((await visitor.upload('lamp.png', png)).status, 404)
  const styles = { chat: { showAttachments: true } }
  await client.request('PUT', `${agent()}/styles`, { styles })
  const sent = await Promise.all([visitor.upload('../lamp.png', png), visitor.upload('note.txt', 'Broken.')])
  assert.deepEqual(
    sent.map(({ status, body }) => [status, body.data.name, body.data.type]),
    [
      [201, 'lamp.png', 'image/png'],
      [201, 'note.txt', 'text/plain'],
    ],
  )
  const ids = sent.map(({ body }) => body.data.id)
  for (const [name, content] of [
    ['setup.exe', 'text all the same'],
    ['page.html', '<script>alert(1)</script>'],
    ['invoice.pdf', Buffer.from('4d5a900003000000', 'hex')],
    ['empty.txt', ''],
  ] as const)
    assert.equal((await visitor.upload(name, content)).body.error?.code, 'VALIDATION_INVALID_BODY', name)
  assert.equal((await visitor.upload('big.txt', 'a'.repeat(10 * 1024 * 1024 + 1))).status, 413)

  const other = visitorOf(service, agentId)
  await assert.rejects(other.write('Mine', { attachments: [ids[0]] }), /attachments\.0/)
  await assert.rejects(visitor.write(''), /Must not be empty/)
  assert.deepEqual(await rows(), [])

  const { conversationId } = await visitor.write('My lamp is broken', { attachments: ids })
  await settled(visitor, conversationId)
  await assert.rejects(visitor.write('Again', { conversationId, attachments: ids }), /already been sent/)
  const [message] = (await visitor.read(conversationId)).messages
  assert.equal(message.text, 'My lamp is broken')
  const [picture] = message.attachments
  assert.deepEqual([picture.name, picture.type, picture.size], ['lamp.png', 'image/png', png.length])
  const opened = await fetch(new URL(picture.url, service.url))
  assert.deepEqual(Buffer.from(await opened.arrayBuffer()), png)
  assert.match(opened.headers.get('content-disposition') ?? '', /^attachment;/)
  assert.match(JSON.stringify(models.requests.map(({ body }) => body)), /broken\\n\[lamp\.png\]/)

  await createMember(
    service.ctx.db,
    { id: client.accountId, plan: 'unlimited' },
    { email: 'ada@example.com', name: 'Ada' },
  )
  const taken = await client.request('POST', `${agent()}/conversations/${conversationId}/takeover`, {
    memberEmail: 'ada@example.com',
  })
  const alone = await visitor.upload('again.png', png)
  await visitor.write('', { conversationId, attachments: [alone.body.data.id] })
  const ticket = `${agent()}/helpdesk/tickets/${taken.body.data.ticketNumber}/messages`
  const [reply] = (await client.request('GET', ticket)).body.data
  assert.deepEqual([reply.contentText, reply.attachments[0].name], ['[again.png]', 'again.png'])
  assert.equal((await fetch(new URL(reply.attachments[0].url, service.url))).status, 200)
  const { messages } = (
    await client.request('GET', `${agent()}/conversations/export?conversationId=${conversationId}`)
  ).body.data[0]
  assert.deepEqual(
    messages.map(({ attachments = [] }: { attachments?: { name: string }[] }) =>
      attachments.map(({ name }) => name),
    ),
    [['lamp.png', 'note.txt'], [], ['again.png']],
  )
})

/** Creates a token as a site's server does. */
function sign(claims: object, secret: string, header: object = { alg: 'HS256', typ: 'JWT' }): string {
  const parts = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  return `${parts.join('.')}.${createHmac('sha256', secret).update(parts.join('.')).digest('base64url')}`
}
const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1_000) + seconds

test('a signed-in visitor is the contact in every browser, and no other token is accepted', async () => {
  const path = `${agent()}/visitor-identity`
  const email = { email: 'Ada@Example.com', email_verified: true }
  const claims = { sub: 'user-17', name: 'Ada Okafor', ...email, exp: inSeconds(300) }
  assert.equal(
    (await visitor.request('POST', '/identity', { token: 'x' })).body.error.code,
    'RESOURCE_NOT_FOUND',
  )
  assert.deepEqual((await client.request('GET', path)).body, { enabled: false, createdAt: null })
  const { secret } = (await client.request('PUT', path)).body
  assert.equal((await client.request('GET', path)).body.enabled, true)
  const stored = await service.ctx.db.selectFrom('identity_secrets').select('secret').execute()
  assert.ok(!JSON.stringify(stored).includes(secret))

  const identify = (who: Visitor, token: string) => who.request('POST', '/identity', { token })
  const unsigned = sign(claims, secret, { alg: 'none', typ: 'JWT' }).replace(/[^.]*$/, '')
  const refused: [token: string, why: RegExp][] = [
    ['no token', /not signed/],
    [unsigned, /not signed/],
    [sign(claims, `${secret}x`), /not signed/],
    [sign(claims, secret, { alg: 'HS512', typ: 'JWT' }), /not signed/],
    [sign({ ...claims, exp: inSeconds(-60) }, secret), /has expired/],
    [sign({ ...claims, nbf: inSeconds(600) }, secret), /"nbf"/],
    [sign({ ...claims, exp: undefined }, secret), /"exp"/],
    [sign({ ...claims, exp: inSeconds(90_000) }, secret), /"exp"/],
    [sign({ ...claims, aud: 'another' }, secret), /"aud"/],
    [sign({ ...claims, sub: undefined }, secret), /"sub"/],
    [sign({ ...claims, sub: 'visitor-17' }, secret), /"sub"/],
    [sign({ ...claims, sub: 'a b' }, secret), /"sub"/],
  ]
  for (const [token, why] of refused) {
    const { status, body } = await identify(visitor, token)
    assert.deepEqual([status, body.error.code], [401, 'VISITOR_IDENTITY_INVALID'], String(why))
    assert.match(body.error.message, why)
  }
  assert.equal((await visitor.signed().request('GET', '/conversations')).status, 401)

  const { conversationId } = await visitor.write('Before')
  await settled(visitor, conversationId)
  // This contact is already known from a channel.
  await service.ctx.db
    .insertInto('contacts')
    .values({
      id: randomUUID(),
      account_id: client.accountId,
      agent_id: agentId,
      external_id: 'ada@example.com',
      name: null,
      email: 'ada@example.com',
      phonenumber: '+4930123456',
      custom_attributes: '{}',
    })
    .execute()
  // An address that is not marked as verified does not identify anybody: it may be somebody else's.
  for (const [sub, email_verified] of [
    ['claims-1', undefined],
    ['claims-2', false],
    ['claims-3', 'true'],
  ] as const) {
    const claimed = sign({ ...claims, sub, email_verified }, secret)
    assert.equal((await identify(visitorOf(service, agentId), claimed)).status, 201)
  }
  const claimants = await service.ctx.db
    .selectFrom('contacts')
    .select(['external_id', 'email', 'phonenumber'])
    .where('agent_id', '=', agentId)
    .where('external_id', '<>', 'ada@example.com')
    .execute()
  assert.deepEqual(
    claimants.map((one) => [one.email, one.phonenumber]),
    Array(3).fill([null, null]),
  )
  const token = sign({ ...claims, aud: [agentId] }, secret)
  assert.deepEqual((await identify(visitor, token)).body, { data: { userId: 'user-17' } })
  assert.equal((await identify(visitor, token)).status, 201)
  const thief = visitorOf(service, agentId)
  assert.match((await identify(thief, token)).body.error.message, /Another browser/)
  assert.equal((await thief.signed().request('GET', '/conversations')).status, 401)

  const ada = visitor.signed()
  assert.deepEqual(said(await ada.read(conversationId)), ['user: Before', 'assistant: Yes.'])
  // The secret alone no longer identifies Ada, because the site has signed her out.
  assert.equal((await visitor.request('GET', `/conversations/${conversationId}`)).status, 404)
  await ada.write('And after', { conversationId })
  const contacts = await service.ctx.db
    .selectFrom('contacts')
    .selectAll()
    .where('agent_id', '=', agentId)
    .where('external_id', 'not like', 'claims-%')
    .execute()
  assert.deepEqual(
    contacts.map(({ external_id, name, email, phonenumber }) => [external_id, name, email, phonenumber]),
    [['user-17', 'Ada Okafor', 'ada@example.com', '+4930123456']],
  )
  const elsewhere = visitorOf(service, agentId)
  await identify(elsewhere, sign({ sub: 'user-17', exp: inSeconds(60) }, secret))
  const { body } = await elsewhere.signed().request('GET', '/conversations')
  assert.deepEqual(
    body.data.map(({ id }: { id: string }) => id),
    [conversationId],
  )
  const begun = await elsewhere.signed().write('New')
  const [row] = (await rows()).filter(({ id }) => id === begun.conversationId)
  assert.deepEqual([row?.user_id, row?.contact_id], ['user-17', contacts[0]?.id])

  await identify(thief, sign({ sub: 'user-18', exp: inSeconds(60) }, secret))
  assert.equal((await thief.signed().request('GET', `/conversations/${conversationId}`)).status, 404)
  await service.ctx.db
    .updateTable('visitor_identities')
    .set({ valid_until: new Date(0) })
    .where('agent_id', '=', agentId)
    .execute()
  assert.equal((await ada.request('GET', '/conversations')).status, 401)
  assert.equal(await dropOldIdentities(service.ctx.db), 0)
  await client.request('PUT', path)
  assert.equal((await identify(visitor, token)).status, 401)
  await client.request('DELETE', path)
  assert.equal((await identify(visitor, token)).status, 404)
})
