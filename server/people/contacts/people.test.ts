import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { addIdentities } from '../../../test/add-identities.ts'
import { plansOf } from '../../../test/plans-of.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { openTicket } from '../../inbox/tickets/open-ticket.ts'
import { resolveContact } from '../records/resolve-contact.ts'
import { findContacts } from './find-contacts.ts'

let service: Service
let client: Client
let agentId: string

before(async () => {
  service = await startService()
})
after(() => service.close())
beforeEach(async () => {
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
})

const contacts = () => `/agents/${agentId}/contacts`
const add = async (body: object): Promise<string> => (await client.request('POST', contacts(), body)).body.id
const get = async (path: string) => (await client.request('GET', `${contacts()}${path}`)).body
const talk = async (userId: string): Promise<string> => {
  const { body } = await client.request('POST', `/agents/${agentId}/chat`, {
    message: `Hello from ${userId}`,
    userId,
    stream: false,
  })
  return body.data.metadata.conversationId
}
const owner = () => ({ accountId: client.accountId, agentId })

test('a contact is created, read, changed, found and deleted', async () => {
  const made = await client.request('POST', contacts(), {
    externalId: 'ann-1',
    name: 'Ann Lee',
    email: 'Ann@Example.com',
    phoneNumber: '+44 20 7946 0000',
  })
  assert.equal(made.status, 201)
  const { id } = made.body
  assert.deepEqual(
    [made.body.externalId, made.body.phoneNumber, made.body.customAttributes],
    ['ann-1', '+442079460000', {}],
  )
  const twice = await client.request('POST', contacts(), { externalId: 'ann-1' })
  assert.deepEqual([twice.status, twice.body.error.code], [409, 'RESOURCE_DUPLICATE'])
  await add({ name: '100% Bob_' })
  await add({})
  const found = async (query: string) =>
    (await get(`?query=${encodeURIComponent(query)}`)).data.map((row: { name: string }) => row.name)
  for (const query of ['ann l', 'ann-1', 'ann@example.com', '+44 (20) 79460000'])
    assert.deepEqual(await found(query), ['Ann Lee'], query)
  assert.deepEqual(await found('100%'), ['100% Bob_'])
  for (const query of ['%', '_', 'lee', 'nobody']) assert.deepEqual(await found(query), [], query)
  const changed = await client.request('PATCH', `${contacts()}/${id}`, { name: null, phoneNumber: '1' })
  assert.deepEqual(
    [changed.body.name, changed.body.phoneNumber, changed.body.email],
    [null, '1', 'Ann@Example.com'],
  )
  const wrong = await client.request('PATCH', `${contacts()}/${id}`, { customAttributes: { size: 1 } })
  assert.ok(wrong.body.error.details['customAttributes.size'])
  assert.deepEqual((await client.request('DELETE', `${contacts()}/${id}`)).body, { success: true })
  assert.equal((await client.request('GET', `${contacts()}/${id}`)).status, 404)
})

test('a contact is found by its username and by what a channel has called it before', async () => {
  const id = await add({ name: 'Eva' })
  const own = { account_id: client.accountId, agent_id: agentId }
  const { db } = service.ctx
  await addIdentities(db, own, id)
  const before = { replaced_at: new Date(), value: 'SE.0001', username: 'Eva.Berg' }
  await db
    .updateTable('contact_identities')
    .set(before)
    .where('contact_id', '=', id)
    .where('kind', '=', 'user')
    .execute()
  const found = async (query: string) =>
    (await get(`?query=${encodeURIComponent(query)}`)).data.map((row: { id: string }) => row.id)
  for (const query of ['SE.0001', '@eva.berg', 'EVA.BERG', '+46 70 123 45 67'])
    assert.deepEqual(await found(query), [id], query)
  for (const query of ['eva.ber', 'SE.0002', '@']) assert.deepEqual(await found(query), [], query)
  const other = (await client.request('POST', '/agents', { name: 'Other' })).body.id
  const elsewhere = await client.request('GET', `/agents/${other}/contacts?query=SE.0001`)
  assert.deepEqual(elsewhere.body.data, [])
})

test('the search for a name of a channel reads no other identities', async () => {
  const { db } = service.ctx
  const elsewhere = (await client.request('POST', '/agents', { name: 'Many' })).body.id
  const other = { account_id: client.accountId, agent_id: elsewhere }
  await sql`insert into contacts (id, account_id, agent_id, external_id)
    select gen_random_uuid(), ${other.account_id}, ${elsewhere}, 'many-' || n from generate_series(1, 3000) as n`.execute(
    db,
  )
  await sql`insert into contact_identities (id, account_id, agent_id, contact_id, person, channel, kind, scope, value, username, stated_by)
    select gen_random_uuid(), account_id, agent_id, id, gen_random_uuid(), 'messaging', 'user', '1', external_id, external_id, 'x'
    from contacts where agent_id = ${elsewhere}`.execute(db)
  await sql`analyze contact_identities`.execute(db)
  const ref = { accountId: client.accountId, agentId: elsewhere }
  const page = { limit: 10, position: null }
  const plans = await plansOf(db, (recorded) => findContacts(recorded, ref, '@many-7', page))
  assert.match(plans.join('\n'), /Index[^\n]* on contact_identities_value/)
  assert.match(plans.join('\n'), /Index[^\n]* on contact_identities_username/)
})

test('pages contain every contact once', async () => {
  const made = await Promise.all(Array.from({ length: 25 }, (_, i) => add({ name: `P${i}` })))
  const seen: string[] = []
  let cursor = ''
  do {
    const page = await get(`?limit=7${cursor && `&cursor=${cursor}`}`)
    assert.equal(page.pagination.total, 25)
    seen.push(...page.data.map((row: { id: string }) => row.id))
    cursor = page.pagination.cursor ?? ''
  } while (cursor)
  assert.deepEqual(seen.sort(), made.sort())
})

test('one person is one contact, however the number or address is written', async () => {
  const id = await add({ externalId: 'kim', email: 'kim@example.com', phoneNumber: '+1 202 555 0101' })
  const resolved = await service.ctx.db
    .transaction()
    .execute(async (trx) => [
      await resolveContact(trx, owner(), { phonenumber: '+12025550101' }),
      await resolveContact(trx, owner(), { email: 'KIM@example.com' }),
    ])
  assert.deepEqual(
    resolved.map((row) => row.id),
    [id, id],
  )
})

test('a merge moves conversations, tickets and missing fields, and removes the first contact', async () => {
  const from = await add({
    externalId: 'old',
    name: 'Old',
    email: 'old@example.com',
    phoneNumber: '+12025550102',
  })
  const into = await add({ externalId: 'new', name: 'New' })
  const [one, two] = [await talk('old'), await talk('new')]
  await service.ctx.db.transaction().execute((trx) =>
    openTicket(service.ctx, trx, {
      ...owner(),
      conversationId: one,
      subject: 'Help',
      description: null,
      customer: { id: 'old', name: null, email: null, phoneNumber: null },
      assigneeId: null,
    }),
  )
  const { status, body } = await client.request('POST', `${contacts()}/${from}/merge`, {
    intoContactId: into,
  })
  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual(
    [body.id, body.externalId, body.name, body.email, body.phoneNumber],
    [into, 'new', 'New', 'old@example.com', '+12025550102'],
  )
  assert.equal((await client.request('GET', `${contacts()}/${from}`)).status, 404)
  const { data, pagination } = await get(`/${into}/conversations`)
  assert.deepEqual(data.map((row: { id: string }) => row.id).sort(), [one, two].sort())
  assert.ok(data.every((row: { userId: string }) => row.userId === 'new'))
  assert.equal(pagination.total, 2)
  const tickets = await get(`/${into}/tickets`)
  assert.deepEqual(
    tickets.data.map((row: { customer: object; conversationId: string }) => [
      row.customer,
      row.conversationId,
    ]),
    [[{ id: 'new', name: null, email: null, phoneNumber: null }, one]],
  )
  const ofUser = await client.request('GET', `/agents/${agentId}/users/old/conversations`)
  assert.deepEqual([ofUser.body.data, ofUser.body.pagination.total], [[], 0])
})

test('a merge with itself, with an unknown contact, or with one of another agent is rejected', async () => {
  const id = await add({ name: 'One' })
  const merge = (intoContactId: string) =>
    client.request('POST', `${contacts()}/${id}/merge`, { intoContactId })
  assert.ok((await merge(id)).body.error.details.intoContactId)
  const other = (await client.request('POST', '/agents', { name: 'Other' })).body.id
  const foreign = (await client.request('POST', `/agents/${other}/contacts`, {})).body.id
  for (const target of ['nobody', foreign]) assert.equal((await merge(target)).status, 404)
  assert.equal((await get(`/${id}`)).name, 'One')
})

test('concurrent opposite merges leave one contact or both', async () => {
  for (let round = 0; round < 5; round++) {
    const [a, b] = [await add({ name: 'A' }), await add({ name: 'B' })]
    const merge = (from: string, into: string) =>
      client.request('POST', `${contacts()}/${from}/merge`, { intoContactId: into })
    const answers = await Promise.all([merge(a, b), merge(b, a)])
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404])
  }
  assert.equal((await get('')).pagination.total, 5)
})
