import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Desk, openDesk, write } from '../../../test/open-desk.ts'
import { type Service, startService } from '../../../test/start.ts'
import { weekdays } from '../settings/settings-schema.ts'

let service: Service

before(async () => {
  service = await startService()
})
after(() => service.close())

const messages = async ({ call }: Desk, number: number, types = 'reply,note,event') =>
  (await call('GET', `/tickets/${number}/messages?types=${types}`)).body.data

const statusOf = async ({ call }: Desk, number: number): Promise<string> =>
  (await call('GET', `/tickets/${number}`)).body.statusCategory

const reply = ({ call }: Desk, number: number, content = 'We look at it.') =>
  call('POST', `/tickets/${number}/messages`, { type: 'reply', content, authorEmail: 'ANN@example.com' })

test('a reply is added to the conversation and sent on its channel', async () => {
  const desk = await openDesk(service)
  const conversationId = await write(service, desk, 'Hello')
  const { ticketNumber } = await desk.open({ conversationId })
  const early = await reply(desk, ticketNumber)
  assert.deepEqual([early.status, early.body.error.code], [409, 'CONVERSATION_NOT_TAKEN_OVER'])
  await desk.client.request('POST', `/agents/${desk.agentId}/conversations/${conversationId}/takeover`, {
    memberId: desk.members.ann,
  })
  const sent = await reply(desk, ticketNumber, 'One **two**\nthree <b>four</b>')
  assert.equal(sent.status, 201)
  const { id: _id, createdAt: _createdAt, ...shown } = sent.body
  assert.deepEqual(shown, {
    type: 'reply',
    sender: { type: 'agent', id: desk.members.ann, name: 'ann', email: 'ann@example.com' },
    content: '<p>One <strong>two</strong><br />three four</p>',
    contentText: 'One **two**\nthree <b>four</b>',
    attachments: [],
    metadata: { delivery: { status: 'queued', error: null } },
  })
  const { db } = service.ctx
  const said = await db
    .selectFrom('messages')
    .select(['id', 'role', 'parts', 'metadata'])
    .where('conversation_id', '=', conversationId)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
  assert.deepEqual(
    [said.role, said.parts, said.metadata?.author],
    [
      'assistant',
      [{ type: 'text', text: sent.body.contentText }],
      { type: 'human_agent', name: 'ann', memberId: desk.members.ann },
    ],
  )
  const delivery = await db
    .selectFrom('deliveries')
    .selectAll()
    .where('ticket_message_id', '=', sent.body.id)
    .executeTakeFirstOrThrow()
  assert.deepEqual(
    [delivery.channel, delivery.message_id, delivery.content.html, delivery.conversation_id],
    ['messaging', said.id, sent.body.content, conversationId],
  )
  await db
    .updateTable('deliveries')
    .set({ status: 'failed', error: 'No.' })
    .where('id', '=', delivery.id)
    .execute()
  const path = `/tickets/${ticketNumber}/messages`
  const failed = (await desk.call('GET', path)).body.data.at(-1)
  assert.deepEqual(failed.metadata, { delivery: { status: 'failed', error: 'No.' } })
  const again = await desk.call('POST', `${path}/${sent.body.id}/retry`)
  assert.deepEqual([again.status, again.body.metadata.delivery.status], [200, 'queued'])
  const found = await desk.client.request(
    'GET',
    `/agents/${desk.agentId}/conversations/export?conversationId=${conversationId}&include=messages`,
  )
  const told = found.body.data[0].messages.at(-1)
  assert.equal(told.parts[0].text, sent.body.contentText)
  assert.deepEqual(told.metadata, {
    score: null,
    outcome: null,
    author: { type: 'human_agent', name: 'ann' },
  })
})

test('a ticket without a conversation is answered by mail', async () => {
  const desk = await openDesk(service)
  const { ticketNumber } = await desk.open()
  const { body } = await reply(desk, ticketNumber)
  const delivery = await service.ctx.db
    .selectFrom('deliveries')
    .select(['channel', 'thread_id', 'ticket_id', 'lane'])
    .where('ticket_message_id', '=', body.id)
    .executeTakeFirstOrThrow()
  assert.deepEqual([delivery.channel, delivery.thread_id], ['email', null])
  assert.equal(delivery.lane, delivery.ticket_id)
})

test('errors in a reply are reported', async () => {
  const desk = await openDesk(service)
  const stranger = await openDesk(service)
  const { ticketNumber } = await desk.open()
  const path = `/tickets/${ticketNumber}/messages`
  const ann = { authorId: desk.members.ann }
  const cases: [object, number, string][] = [
    [{ type: 'reply', content: '  \n ', ...ann }, 400, 'VALIDATION_INVALID_BODY'],
    [{ type: 'reply', content: 'x'.repeat(10_001), ...ann }, 400, 'VALIDATION_INVALID_BODY'],
    [{ type: 'note', content: 'x', ...ann }, 400, 'VALIDATION_INVALID_BODY'],
    [{ type: 'reply', content: 'x' }, 400, 'VALIDATION_INVALID_BODY'],
    [{ type: 'reply', content: 'x', ...ann, authorEmail: 'ann@example.com' }, 400, 'VALIDATION_INVALID_BODY'],
    [{ type: 'reply', content: 'x', authorId: 'nobody' }, 422, 'TEAM_MEMBER_NOT_FOUND'],
    [{ type: 'reply', content: 'x', authorId: stranger.members.ann }, 422, 'TEAM_MEMBER_NOT_FOUND'],
    [{ type: 'reply', content: 'x', authorEmail: 'eve@example.com' }, 422, 'TEAM_MEMBER_NOT_FOUND'],
    [{ type: 'reply', content: '<script>x</script>', ...ann }, 422, 'MESSAGE_CONTENT_NOT_RENDERABLE'],
    [{ type: 'reply', content: '<!-- x -->', ...ann }, 422, 'MESSAGE_CONTENT_NOT_RENDERABLE'],
    [{ type: 'reply', content: 'x', ...ann, attachments: ['nothing'] }, 400, 'VALIDATION_INVALID_BODY'],
  ]
  for (const [body, status, code] of cases) {
    const answer = await desk.call('POST', path, body)
    assert.deepEqual(
      [answer.status, answer.body.error.code],
      [status, code],
      JSON.stringify(body).slice(0, 90),
    )
  }
  assert.deepEqual(await messages(desk, ticketNumber), [])
  const empty = await desk.call('POST', path, { type: 'reply', content: '  ' })
  assert.deepEqual(Object.keys(empty.body.error.details).sort(), ['authorId', 'content'])
  // Characters, not the halves of them; and what was submitted is kept as it was.
  const content = ` ${'🙂'.repeat(10_000)}\n`
  const longest = await desk.call('POST', path, { type: 'reply', content, ...ann })
  assert.deepEqual([longest.status, longest.body.contentText === content], [201, true])
  const tooLong = await desk.call('POST', path, { type: 'reply', content: '🙂'.repeat(10_001), ...ann })
  assert.deepEqual([tooLong.status, Object.keys(tooLong.body.error.details)], [400, ['content']])
  for (const number of ['2', '2147483647']) {
    const answer = await desk.call('POST', `/tickets/${number}/messages`, {
      type: 'reply',
      content: 'x',
      ...ann,
    })
    assert.deepEqual([answer.status, answer.body.error.code], [404, 'TICKET_NOT_FOUND'])
  }
  const tooLarge = await desk.call('POST', '/tickets/2147483648/messages', {
    type: 'reply',
    content: 'x',
    ...ann,
  })
  assert.deepEqual([tooLarge.status, Object.keys(tooLarge.body.error.details)], [400, ['ticketNumber']])
})

test('an invalid request is rejected before the ticket is looked up', async () => {
  const desk = await openDesk(service)
  const { ticketNumber } = await desk.open()
  const ticket = { subject: 'x', description: 'x', customer: { email: 'a@b.co' } }
  const words = { type: 'reply', content: ' ', authorId: 'x' }
  const days = Object.fromEntries(weekdays.map((day) => [day, []]))
  const hours = { timeZone: 'Nowhere', days, holidays: [] }
  const cases: [string, string, object | undefined, string[]][] = [
    ['GET', '/tickets?createdAfter=x', undefined, ['createdAfter']],
    ['GET', '/tickets?status=bogus', undefined, ['status']],
    ['POST', '/tickets', { ...ticket, statusId: 'x', statusCategory: 'new' }, ['statusCategory']],
    ['PATCH', '/tickets/1', { statusId: 'x', statusCategory: 'new' }, ['statusCategory']],
    ['POST', '/tickets/1/messages', words, ['content']],
    ['POST', '/tickets/1/notes', { content: ' ', authorId: 'x' }, ['content']],
    ['PUT', '/settings', { businessHours: hours }, ['businessHours.timeZone']],
    ['POST', '/canned-replies', { name: 'x', content: '{{x}}' }, ['content']],
    ['POST', '/canned-replies/x/fill', { ticketNumber }, ['authorId']],
  ]
  for (const [method, path, body, fields] of cases) {
    const answer = await desk.client.request(method, `/agents/NOPE/helpdesk${path}`, body)
    assert.equal(answer.status, 400, `${method} ${path}: ${JSON.stringify(answer.body)}`)
    assert.deepEqual(Object.keys(answer.body.error.details), fields, path)
  }
  for (const [method, path, body] of [
    ['GET', '/tickets', undefined],
    ['POST', '/tickets', { ...ticket, conversationId: 'x' }],
  ] as const) {
    const answer = await desk.client.request(method, `/agents/NOPE/helpdesk${path}`, body)
    assert.equal(answer.body.error.code, 'AGENT_NOT_FOUND', path)
  }
})

test('the same Idempotency-Key replies once', async () => {
  const desk = await openDesk(service)
  const { ticketNumber } = await desk.open()
  const body = { type: 'reply', content: 'Once', authorId: desk.members.ann }
  const path = `/agents/${desk.agentId}/helpdesk/tickets/${ticketNumber}/messages`
  const send = () => desk.client.request('POST', path, body, { 'idempotency-key': 'k' })
  const [one, two] = await Promise.all([send(), send()])
  assert.equal(one.body.id, two.body.id)
  assert.equal((await messages(desk, ticketNumber, 'reply')).length, 1)
})

test('notes stay inside and mention members', async () => {
  const desk = await openDesk(service, ['ann', 'ann lee', 'bob'])
  const { ticketNumber } = await desk.open()
  const content = 'Ask @Ann Lee or @bob@example.com, not eve@ann.example'
  const note = await desk.call('POST', `/tickets/${ticketNumber}/notes`, {
    content,
    authorId: desk.members.bob,
  })
  assert.equal(note.status, 201, JSON.stringify(note.body))
  assert.equal(note.body.type, 'note')
  assert.deepEqual(
    note.body.metadata.mentions.map(({ name }: { name: string }) => name),
    ['ann lee', 'bob'],
  )
  assert.equal(await statusOf(desk, ticketNumber), 'new')
  const listed = async (mentionedId = '') => {
    const { body } = await desk.call('GET', `/tickets?mentionedId=${mentionedId}`)
    return body.data.map((ticket: { ticketNumber: number }) => ticket.ticketNumber)
  }
  await desk.open()
  assert.deepEqual(await listed(desk.members.bob), [ticketNumber])
  assert.deepEqual([await listed(desk.members.ann), await listed('x"]')], [[], []])
  const deliveries = await service.ctx.db
    .selectFrom('deliveries')
    .select('id')
    .where('agent_id', '=', desk.agentId)
    .execute()
  assert.deepEqual(deliveries, [])
})

test("a person's message in a conversation is found as theirs", async () => {
  const desk = await openDesk(service)
  const said = await desk.client.request('POST', `/agents/${desk.agentId}/chat`, {
    message: 'Hi',
    stream: false,
  })
  const { conversationId } = said.body.data.metadata
  const path = `/agents/${desk.agentId}/conversations`
  await desk.client.request('POST', `${path}/${conversationId}/takeover`, { memberId: desk.members.ann })
  await reply(desk, 1, 'The flux capacitor is on its way')
  await service.ctx.indexer.run(service.ctx.db)
  const { body } = await desk.client.request('GET', `${path}/search?query=capacitor`)
  assert.deepEqual([body.data.length, body.data[0].snippet.speaker], [1, 'human_agent'])
})

test('concurrent work on one ticket causes no deadlock, and nothing is lost', async () => {
  const desk = await openDesk(service)
  const conversationId = await write(service, desk, 'Hello')
  const path = `/agents/${desk.agentId}/conversations/${conversationId}`
  const takeOver = (name: string) =>
    desk.client.request('POST', `${path}/takeover`, { memberId: desk.members[name] })
  await takeOver('ann')
  await desk.client.request('PUT', `/members/${desk.members.ann}/presence`, { presence: 'online' })
  const answers = await Promise.all(
    Array.from({ length: 36 }, async (_, at) => {
      switch (at % 9) {
        case 0:
        case 1:
        case 2:
          return reply(desk, 1, `Reply ${at}`)
        case 3:
          return desk.call('PATCH', '/tickets/1', { statusCategory: 'on_hold', assigneeId: desk.members.bob })
        case 4:
          return desk.call('POST', '/tickets/1/notes', { content: 'Note', authorId: desk.members.bob })
        case 5:
          return desk.client.request('PUT', `/members/${desk.members.bob}/presence`, { presence: 'online' })
        case 6:
          return { status: (await write(service, desk, `Question ${at}`)) === conversationId ? 200 : 500 }
        case 7:
          return takeOver('bob')
        default:
          return desk.open()
      }
    }),
  )
  const statuses = answers.map((answer) => ('status' in answer ? answer.status : 201))
  assert.deepEqual(
    [...new Set(statuses)].filter((status) => ![200, 201, 409].includes(Number(status))),
    [],
  )
  const replied = answers.filter((_, at) => at % 9 < 3).length
  const own = (await messages(desk, 1, 'reply')).filter(
    ({ sender }: { sender: { type: string } }) => sender.type === 'agent',
  )
  assert.equal(own.length, replied)
  const seqs = await service.ctx.db
    .selectFrom('messages')
    .select('seq')
    .where('conversation_id', '=', conversationId)
    .orderBy('seq')
    .execute()
  assert.deepEqual(
    seqs.map(({ seq }) => seq),
    seqs.map((_, at) => at + 1),
  )
})
