import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Desk, openDesk } from '../../../test/open-desk.ts'
import { type Service, startService } from '../../../test/start.ts'
import { quotaProblem } from '../../conversations/attachments/attachment-quota.ts'
import { dropAbandonedUploads } from '../../conversations/attachments/uploads.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { mentionsIn } from '../messages/add-note.ts'

let service: Service

before(async () => {
  service = await startService()
})
after(() => service.close())

const names = (rows: { name: string }[]) => rows.map(({ name }) => name)

test('teams are created, changed, counted and deleted', async () => {
  const desk = await openDesk(service)
  const [first] = (await desk.call('GET', '/teams')).body
  assert.deepEqual([first.name, first.isDefault, first.memberCount], ['Support', true, 2])
  const made = await desk.call('POST', '/teams', { name: ' Billing ', memberIds: [desk.members.ann] })
  assert.deepEqual(
    [made.status, made.body.name, made.body.isDefault, made.body.memberCount],
    [201, 'Billing', false, 1],
  )
  const path = `/teams/${made.body.id}`
  const changed = await desk.call('PUT', path, { name: 'billing', memberIds: [] })
  assert.deepEqual([changed.body.name, changed.body.memberCount], ['billing', 0])
  const wrong: [string, string, object, number][] = [
    ['POST', '/teams', { name: 'BILLING' }, 409],
    ['PUT', path, { name: 'support' }, 409],
    ['PUT', path, { memberIds: ['x'] }, 422],
    ['PUT', `/teams/${first.id}`, { memberIds: [] }, 400],
    ['POST', '/teams', { name: ' ' }, 400],
  ]
  for (const [method, where, body, status] of wrong) {
    assert.equal((await desk.call(method, where, body)).status, status, JSON.stringify(body))
  }
  const ticket = await desk.open({ teamId: made.body.id })
  assert.equal((await desk.call('GET', `/tickets?teamId=${made.body.id}`)).body.data.length, 1)
  assert.equal((await desk.call('DELETE', `/teams/${first.id}`)).status, 400)
  assert.equal((await desk.call('DELETE', path)).status, 200)
  assert.equal((await desk.call('GET', `/tickets/${ticket.ticketNumber}`)).body.teamId, null)
})

test('statuses are created, made the default, ordered and deleted', async () => {
  const desk = await openDesk(service)
  const all = async () => (await desk.call('GET', '/ticket-statuses')).body
  const six = await all()
  assert.deepEqual(
    six.map(({ category, isDefault, position }: Record<string, unknown>) => [category, isDefault, position]),
    ['new', 'on_you', 'on_customer', 'on_hold', 'closed', 'cancelled'].map((category, at) => [
      category,
      true,
      at,
    ]),
  )
  const made = (
    await desk.call('POST', '/ticket-statuses', { category: 'on_hold', internalLabel: 'At the supplier' })
  ).body
  assert.deepEqual([made.externalLabel, made.isDefault, made.position], ['At the supplier', false, 6])
  const ticket = await desk.open({ statusId: made.id })
  assert.deepEqual([ticket.statusCategory, ticket.statusId], ['on_hold', made.id])
  assert.equal((await desk.call('GET', `/tickets?status=${made.id}`)).body.data.length, 1)
  await desk.call('PUT', `/ticket-statuses/${made.id}`, { isDefault: true, color: '#000000' })
  const before = six[3]
  assert.equal((await all()).find(({ id }: { id: string }) => id === before.id).isDefault, false)
  assert.equal((await desk.call('PUT', `/ticket-statuses/${made.id}`, { isDefault: false })).status, 400)
  assert.equal((await desk.call('DELETE', `/ticket-statuses/${made.id}`)).status, 400)
  await desk.call('PUT', `/ticket-statuses/${before.id}`, { isDefault: true })
  const ids = (await all()).map(({ id }: { id: string }) => id).reverse()
  assert.deepEqual(
    (await desk.call('PUT', '/ticket-statuses', { statusIds: ids })).body.map(({ id }: { id: string }) => id),
    ids,
  )
  assert.equal((await desk.call('PUT', '/ticket-statuses', { statusIds: ids.slice(1) })).status, 400)
  assert.equal((await desk.call('DELETE', `/ticket-statuses/${made.id}`)).status, 200)
  assert.equal((await desk.call('GET', `/tickets/${ticket.ticketNumber}`)).body.statusId, before.id)
})

test('tags are created, assigned to tickets, and used as a filter', async () => {
  const desk = await openDesk(service)
  const other = await openDesk(service)
  const foreign = (await other.call('POST', '/tags', { name: 'vip' })).body
  const vip = (await desk.call('POST', '/tags', { name: 'VIP', color: '#ff0000' })).body
  const bug = (await desk.call('POST', '/tags', { name: 'bug' })).body
  assert.equal((await desk.call('POST', '/tags', { name: 'vip' })).status, 409)
  assert.equal((await desk.call('PUT', `/tags/${bug.id}`, { name: 'vip' })).status, 409)
  await desk.open()
  await desk.open()
  const given = await desk.call('PUT', '/tickets/1/tags', { tagIds: [vip.id, bug.id] })
  assert.deepEqual(names(given.body), ['bug', 'VIP'])
  assert.equal((await desk.call('PUT', '/tickets/1/tags', { tagIds: [foreign.id] })).status, 404)
  assert.deepEqual(names((await desk.call('GET', '/tickets/1/tags')).body), ['bug', 'VIP'])
  const found = (await desk.call('GET', `/tickets?tagId=${vip.id}`)).body.data
  assert.deepEqual(
    found.map(({ ticketNumber }: { ticketNumber: number }) => ticketNumber),
    [1],
  )
  assert.deepEqual((await desk.call('GET', `/tickets?tagId=${foreign.id}`)).body.data, [])
  await desk.call('DELETE', `/tags/${vip.id}`)
  assert.deepEqual(names((await desk.call('GET', '/tickets/1/tags')).body), ['bug'])
})

test('white space around a variable is parsed in linear time', async () => {
  const desk = await openDesk(service)
  // A pattern that backtracks through every split would not finish before the test times out.
  const content = `{{${' '.repeat(9_998)}`
  const { status, body } = await desk.call('POST', '/canned-replies', { name: 'Wide', content })
  assert.deepEqual([status, body.content === content], [201, true])
})

test('canned replies are filled in, once', async () => {
  const desk = await openDesk(service)
  await desk.open({ customer: { email: 'eve@example.org', name: 'Eve {{author.name}}\n# x' } })
  const content =
    'Hi {{customer.name}}, about {{ ticket.subject }} (#{{ticket.number}}): call {{customer.phoneNumber}}. {{author.name}}, {{agent.name}}'
  const made = await desk.call('POST', '/canned-replies', { name: 'Call', content })
  assert.equal(made.status, 201)
  const path = `/canned-replies/${made.body.id}`
  const filled = await desk.call('POST', `${path}/fill`, { ticketNumber: 1, authorEmail: 'ann@example.com' })
  assert.deepEqual(filled.body, {
    content: 'Hi Eve {{author.name}} # x, about Late (#1): call . ann, Agent',
    missing: ['customer.phoneNumber'],
  })
  const unknown = await desk.call('POST', '/canned-replies', { name: 'x', content: '{{ customer.iban\n}}' })
  assert.match(unknown.body.error.details.content, /^\{\{customer\.iban\}\} /)
  assert.equal((await desk.call('POST', '/canned-replies', { name: 'call', content: 'x' })).status, 409)
  assert.equal((await desk.call('PUT', path, { content: 'Other' })).body.content, 'Other')
  assert.deepEqual(names((await desk.call('GET', '/canned-replies')).body), ['Call'])
  assert.equal((await desk.call('DELETE', path)).status, 200)
  assert.equal((await desk.call('DELETE', path)).status, 404)
})

async function upload({ client, agentId }: Desk, bytes: Uint8Array, name: string) {
  const form = new FormData()
  form.set('file', new Blob([bytes as Uint8Array<ArrayBuffer>], { type: 'text/html' }), name)
  const response = await client.raw('POST', `/agents/${agentId}/helpdesk/attachments`, { body: form })
  // biome-ignore lint/suspicious/noExplicitAny: answers and refusals
  const body = (await response.json()) as any
  return { status: response.status, body }
}

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

test('uploads are rejected when too many wait or the plan is used up, and forged paths are not served', async () => {
  const { db } = service.ctx
  const desk = await openDesk(service)
  const first = await upload(desk, PNG, 'x.png')
  const change = (set: { size: number } | { path: string }) =>
    db.updateTable('attachments').set(set).where('id', '=', first.body.id).execute()
  const refusal = async () => {
    const { status, body } = await upload(desk, PNG, 'x.png')
    assert.deepEqual([status, body.error?.code], [422, 'ATTACHMENT_LIMIT_EXCEEDED'])
    return body.error.message
  }
  await change({ size: 1_000 * 1_048_576 })
  assert.match(await refusal(), /wait to be sent/)
  await change({ size: 900 * 1_048_576 })
  await db.updateTable('accounts').set({ plan: 'free' }).where('id', '=', desk.client.accountId).execute()
  const owner = { accountId: desk.client.accountId, agentId: desk.agentId }
  assert.match((await transact(db, (trx) => quotaProblem(trx, owner, 1, null))) ?? '', /plan/)
  await db
    .updateTable('accounts')
    .set({ plan: 'unlimited' })
    .where('id', '=', desk.client.accountId)
    .execute()
  await change({ size: 1_000 * 1_048_576 - 2 * PNG.length })
  const together = await Promise.all(Array.from({ length: 6 }, () => upload(desk, PNG, 'x.png')))
  const statuses = together.map(({ status }) => status).sort()
  assert.deepEqual(statuses, [201, 201, 422, 422, 422, 422], 'room for two')

  const { agentId, client } = desk
  for (const path of [
    '../secret.key',
    `${client.accountId}/${agentId}/attachments/../../x`,
    '/etc/passwd',
    '',
  ]) {
    await change({ path })
    assert.equal((await fetch(service.url + first.body.url)).status, 404, path)
  }
})

test('files are sent with replies and are returned unchanged', async () => {
  const desk = await openDesk(service)
  await desk.open()
  const picture = await upload(desk, PNG, '../ph"oto.html')
  assert.deepEqual([picture.status, picture.body.type, picture.body.size], [201, 'image/png', PNG.length])
  const page = await upload(desk, Buffer.from('<script>alert(1)</script>'), 'x.html')
  assert.equal(page.body.type, 'text/plain')
  const binary = await upload(desk, Buffer.from([1, 0, 255, 254]), 'x.txt')
  assert.equal(binary.body.type, 'application/octet-stream')
  assert.equal((await upload(desk, Buffer.alloc(0), 'x')).status, 400)
  const reply = (ids: string[]) =>
    desk.call('POST', '/tickets/1/messages', {
      type: 'reply',
      content: 'See',
      authorId: desk.members.ann,
      attachments: ids,
    })
  const stranger = await openDesk(service)
  const theirs = await upload(stranger, PNG, 'x.png')
  assert.ok((await reply([picture.body.id, theirs.body.id])).body.error.details['attachments.1'])
  const sent = await reply([picture.body.id, page.body.id])
  assert.deepEqual(names(sent.body.attachments), ['ph%22oto.html', 'x.html'])
  assert.deepEqual(Object.keys(sent.body.attachments[0]).sort(), ['name', 'size', 'type', 'url'])
  assert.equal((await reply([picture.body.id])).status, 400, 'already been sent')

  const response = await fetch(service.url + sent.body.attachments[0].url)
  assert.equal(response.status, 200)
  assert.deepEqual(Buffer.from(await response.arrayBuffer()), PNG)
  const header = (name: string) => response.headers.get(name)
  assert.equal(header('content-type'), 'image/png')
  assert.equal(header('x-content-type-options'), 'nosniff')
  assert.equal(header('content-security-policy'), "default-src 'none'; sandbox")
  assert.match(header('content-disposition') ?? '', /^attachment; filename\*=UTF-8''[\w.%-]+$/)
  for (const url of ['/attachments/x', `${sent.body.attachments[0].url}x`, '/attachments/v1:a:b:c:d']) {
    assert.equal((await fetch(service.url + url)).status, 404, url)
  }

  const old = new Date(Date.now() - 3 * 86_400_000)
  await service.ctx.db
    .updateTable('attachments')
    .set({ created_at: old })
    .where('agent_id', '=', desk.agentId)
    .execute()
  await dropAbandonedUploads(service.ctx.db)
  const left = await service.ctx.db
    .selectFrom('attachments')
    .select('id')
    .where('agent_id', '=', desk.agentId)
    .execute()
  assert.deepEqual(left.map(({ id }) => id).sort(), [picture.body.id, page.body.id].sort())
})

test('closing a ticket with the survey enabled asks the customer once', async () => {
  const desk = await openDesk(service)
  await desk.call('PUT', '/settings', { surveyEnabled: true })
  await desk.open({ subject: '<b>Late</b>' })
  await desk.call('PATCH', '/tickets/1', { statusCategory: 'closed' })
  await desk.call('PATCH', '/tickets/1', { statusCategory: 'on_you' })
  await desk.call('PATCH', '/tickets/1', { statusCategory: 'closed' })
  const deliveries = await service.ctx.db
    .selectFrom('deliveries')
    .selectAll()
    .where('agent_id', '=', desk.agentId)
    .execute()
  assert.equal(deliveries.length, 1)
  const path = /\/surveys\/[\w-]{32}/.exec(deliveries[0]?.content.text ?? '')?.[0]
  const said = (await desk.call('GET', '/tickets/1/messages')).body.data
  assert.deepEqual(
    [said.length, said[0].sender.type, said[0].contentText.includes('/surveys/')],
    [1, 'system', false],
  )
  assert.deepEqual((await desk.call('GET', '/tickets/1/survey')).body.answeredAt, null)

  const page = await fetch(service.url + path, { headers: { accept: 'text/html' } })
  const html = await page.text()
  assert.ok(html.includes('&lt;b&gt;Late') && html.includes('name="rating"'))
  assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/)
  const post = (body: string, type: string, where = path) =>
    fetch(service.url + where, { method: 'POST', body, headers: { 'content-type': type } })
  for (const body of ['{}', '{"rating":6}', '{"rating":2.5}', '{"rating":"x"}', '{"rating":3,"comment":5}']) {
    assert.equal((await post(body, 'application/json')).status, 400, body)
  }
  const answers = await Promise.all([
    post('rating=4&comment=Fast%21', 'application/x-www-form-urlencoded'),
    post('{"rating":4,"comment":"Fast!"}', 'application/json'),
  ])
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409])
  const { rating, comment } = (await desk.call('GET', '/tickets/1/survey')).body
  assert.deepEqual([rating, comment], [4, 'Fast!'])
  assert.deepEqual(await (await fetch(service.url + path)).json(), { subject: '<b>Late</b>', answered: true })
  assert.equal((await post('{"rating":1}', 'application/json', '/surveys/nothing')).status, 404)
})

test('without the setting, or without a way to reach the customer, nobody is asked', async () => {
  const desk = await openDesk(service)
  await desk.open()
  await desk.call('PATCH', '/tickets/1', { statusCategory: 'closed' })
  await desk.call('PUT', '/settings', { surveyEnabled: true })
  const said = await desk.client.request('POST', `/agents/${desk.agentId}/chat`, {
    message: 'Hi',
    stream: false,
  })
  const { conversationId } = said.body.data.metadata
  const path = `/agents/${desk.agentId}/conversations/${conversationId}`
  await desk.client.request('POST', `${path}/takeover`, { memberId: desk.members.ann })
  await desk.client.request('POST', `${path}/end`)
  const deliveries = await service.ctx.db
    .selectFrom('deliveries')
    .select('id')
    .where('agent_id', '=', desk.agentId)
    .execute()
  assert.deepEqual(deliveries, [])
})

test('mentions match names as they are written, the longest first', () => {
  const members = ['Ann', 'Ann Lee', 'Zoë', 'J.'].map((name) => ({
    name,
    email: `${name[0]?.toLowerCase()}@example.com`,
  }))
  const cases: [string, string[]][] = [
    ['@ann', ['Ann']],
    ['Hi @ANN LEE!', ['Ann Lee']],
    ['@anna', []],
    ['x@ann', []],
    ['(@Zoë) @z@example.com', ['Zoë']],
    ['@j. and @ann', ['Ann', 'J.']],
    ['@', []],
  ]
  for (const [text, expected] of cases)
    assert.deepEqual(names(mentionsIn(text, members)).sort(), expected, text)
})
