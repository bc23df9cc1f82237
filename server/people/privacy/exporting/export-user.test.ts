import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { addIdentities } from '../../../../test/add-identities.ts'
import { type ModelServer, startModelServer } from '../../../../test/fakes/model-server.ts'
import { liveFully, MARK, makeWorld, PERSON, QUESTION, say } from '../../../../test/full-life.ts'
import { type Service, startService } from '../../../../test/start.ts'
import { newId } from '../../../platform/db/ids.ts'
import { findPerson } from '../person/find-person.ts'
import { noCounts, userLines } from './export-user.ts'

let models: ModelServer
let service: Service

before(async () => {
  models = await startModelServer()
  service = await startService(models.settings)
})
after(async () => {
  await models.close()
  await service.close()
})

const post = (client: Awaited<ReturnType<Service['account']>>, body: object) =>
  client.raw('POST', '/users/export', {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })

test('everything about a person is exported as lines, by any identifier, and nothing about others', async () => {
  const world = await makeWorld(service, models)
  const { client } = world
  const { conversationId } = await liveFully(world)
  const { id: contactId } = await service.ctx.db
    .selectFrom('contacts')
    .select('id')
    .where('agent_id', '=', world.agentId)
    .executeTakeFirstOrThrow()
  await addIdentities(service.ctx.db, { account_id: client.accountId, agent_id: world.agentId }, contactId)
  await say(world, { message: 'Nobody else', userId: 'other-user' })
  // Titles are made in the background, so the exports are compared once nothing changes any more.
  const now = async () => (await post(client, { userId: PERSON.userId })).text()
  let before = ''
  for (let text = await now(); text !== before; text = await now()) {
    before = text
    await wait(500)
  }
  const texts: string[] = []
  for (const asked of [{ userId: PERSON.userId }, { email: PERSON.email }, { phone: '+49 30 901820' }]) {
    const response = await post(client, asked)
    assert.equal(response.headers.get('content-type'), 'application/x-ndjson; charset=utf-8')
    texts.push(await response.text())
  }
  assert.deepEqual(new Set(texts).size, 1)
  const lines = texts[0]!
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const of = (type: string) => lines.filter((line) => line.type === type)
  assert.deepEqual(of('user'), [
    {
      type: 'user',
      userIds: [PERSON.userId],
      contactIds: [of('contact')[0].id],
      emails: [PERSON.email],
      phones: [PERSON.phone],
    },
  ])
  const { externalId, customAttributes, identities } = of('contact')[0]
  assert.deepEqual(
    identities.map(({ kind, value }: { kind: string; value: string }) => `${kind} ${value}`),
    ['phone +46701234567', 'user SE.1234567890'],
  )
  assert.deepEqual([externalId, customAttributes], [PERSON.userId, { note: `likes ${MARK}` }])
  const whole = of('conversation').find(({ id }) => id === conversationId)
  assert.equal(whole.messages[0].parts[0].text, QUESTION)
  assert.equal(whole.messages[1].feedback, 'negative')
  assert.deepEqual([of('conversation').length, of('lead').length, of('ticket').length], [3, 2, 2])
  assert.deepEqual(
    of('ticket')
      .map(({ messages }) => messages.length)
      .sort(),
    [0, 1],
  )
  const { type, ...counts } = lines.at(-1)
  assert.deepEqual(
    [type, counts.contacts, counts.conversations, counts.leads, counts.tickets],
    ['end', 1, 3, 2, 2],
  )
  assert.equal(counts.messages, of('conversation').flatMap(({ messages }) => messages).length)
  assert.doesNotMatch(texts[0]!, /Nobody else|other-user/)
  const other = await service.account()
  const nothing = (await (await post(other, { userId: PERSON.userId })).text()).trimEnd().split('\n')
  assert.deepEqual(nothing.length, 2)
  assert.equal((await post(other, { contactId: of('contact')[0].id })).status, 404)
})

test('what a model thought about a person is for the team, not for the export', async () => {
  const world = await makeWorld(service, models)
  models.queue.push({ reasoning: 'Sounds impatient.', tokens: ['Soon.'] })
  const { metadata } = await say(world, { message: 'When does it arrive?', userId: 'thought-of' })
  const text = await (await post(world.client, { userId: 'thought-of' })).text()
  assert.match(text, /Soon\./)
  assert.doesNotMatch(text, /impatient/)
  const query = `conversationId=${metadata.conversationId}`
  const team = await world.client.request('GET', `/agents/${world.agentId}/conversations/export?${query}`)
  assert.match(JSON.stringify(team.body), /impatient/)
})

test('each of thousands of conversations is exported once', async () => {
  const { client, agentId } = await makeWorld(service, models)
  await sql`
    insert into conversations (id, account_id, agent_id, source, status, user_id)
    select gen_random_uuid(), ${client.accountId}, ${agentId}, 'API', 'ended', 'many' from generate_series(1, 4100)`.execute(
    service.ctx.db,
  )
  const lines = (await (await post(client, { userId: 'many' })).text()).trimEnd().split('\n')
  const ids = lines.slice(1, -1).map((line) => JSON.parse(line).id)
  assert.equal(new Set(ids).size, 4100)
  assert.equal(ids.length, 4100)
})

test('a reader that pauses holds up the export, and one that disconnects ends it', async () => {
  const { client, agentId } = await makeWorld(service, models)
  const { db } = service.ctx
  const own = { account_id: client.accountId, agent_id: agentId }
  const conversationId = newId()
  await db
    .insertInto('conversations')
    .values({ id: conversationId, ...own, source: 'API', status: 'ended', user_id: 'much', last_seq: 4000 })
    .execute()
  await sql`
    insert into messages (id, account_id, agent_id, conversation_id, seq, role, parts)
    select gen_random_uuid(), account_id, agent_id, id, n, 'user',
      jsonb_build_array(jsonb_build_object('type', 'text', 'text', repeat('word ', 1000)))
    from conversations, generate_series(1, 4000) as n where id = ${conversationId}`.execute(db)
  const person = await findPerson(db, client.accountId, { userId: 'much' })
  const counts = noCounts()
  const pieces = userLines(db, client.accountId, person, counts)
  for (let i = 0; i < 4; i++) await pieces.next()
  // With 200 messages per piece, nothing is read before it is requested.
  assert.ok(counts.messages <= 600)
  await pieces.return(undefined)
  assert.equal((await pieces.next()).done, true)

  // A separate connection, which is closed in the middle.
  const leaving = request(`${service.url}/api/v2/users/export`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${client.key}`, 'content-type': 'application/json' },
  })
  leaving.end(JSON.stringify({ userId: 'much' }))
  const [answer] = await once(leaving, 'response')
  await once(answer, 'data')
  leaving.destroy()
  // The database is available to others at once, and the next export is complete.
  const text = await (await post(client, { userId: 'much' })).text()
  assert.ok(text.endsWith('"conversations":1,"messages":4000,"leads":0,"tickets":0}\n'), text.slice(-200))
})
