import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { type ModelServer, startModelServer } from '../../../../test/fakes/model-server.ts'
import {
  addContact,
  erased,
  liveFully,
  MARK,
  makeWorld,
  PERSON,
  QUESTION,
  say,
  type World,
} from '../../../../test/full-life.ts'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { memberOf } from '../../../../test/workspace.ts'
import { reconcile } from '../../../conversations/records/reconcile-credits.ts'
import { newId } from '../../../platform/db/ids.ts'
import { json } from '../../../platform/db/statements/json.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import { resumeErasures } from '../jobs.ts'
import { eraseUser } from './erase-user.ts'
import { addErasure } from './erasures.ts'

let models: ModelServer
let service: Service

before(async () => {
  models = await startModelServer()
  service = await startService(models.settings)
})
after(async () => {
  await models.close()
  assert.deepEqual(await reconcile(service.ctx.db), { balanced: true, difference: 0 })
  await service.close()
})

/**
 * Returns every row of every table, including the queue, that contains the text, except for those of other accounts.
 */
async function rowsWith(texts: string[], except: string): Promise<string[]> {
  const { rows: tables } = await sql<{ name: string }>`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`.execute(
    service.ctx.db,
  )
  assert.ok(tables.length > 45)
  const found = await Promise.all(
    tables.map(async ({ name }) => {
      const { rows } = await sql<{ row: string }>`
        select t::text as row from ${sql.raw(name)} as t
        where t::text ilike any(${texts.map((text) => `%${text}%`)}::text[])`.execute(service.ctx.db)
      return rows.flatMap(({ row }) => (row.includes(except) ? [] : [`${name}: ${row.slice(0, 400)}`]))
    }),
  )
  return found.flat()
}

/** Resolves when the agent answers from this many sources. */
async function trained({ service: { ctx }, agentId }: World, sources: number): Promise<void> {
  for (;;) {
    const rows = await ctx.db
      .selectFrom('sources')
      .select(['type', 'status'])
      .where('agent_id', '=', agentId)
      .execute()
    if (rows.length === sources && rows.every(({ status }) => status === 'trained')) return
    await wait(30)
  }
}

test('no row of any table contains the person, and everybody else is unaffected', async () => {
  const world = await makeWorld(service, models)
  const { client, agentId } = world
  const stranger = await makeWorld(service, models)
  await say(stranger, { message: `In another account, ${MARK}`, userId: PERSON.userId })
  const { correction } = await liveFully(world)
  await client.request('PUT', `/agents/${agentId}/sources/${correction}`, { fixed: true })
  await trained(world, 2)
  const clone = (await client.request('POST', `/agents/${agentId}/clone`)).body.id
  await say({ ...world, agentId: clone }, { message: `${MARK} again`, userId: PERSON.userId })
  models.queue.push({ tokens: ['Twelve years. [1][2]'] })
  const other = await say(world, { message: QUESTION.replace(MARK, 'desk'), userId: 'other-user' })
  const cited = other.metadata.sources.map(({ id }: { id: string }) => id)
  assert.ok(cited.includes(correction))
  // What a version has left out is erased like what is live.
  const sources = [{ id: correction, isIncluded: false }]
  await client.request('PUT', `/agents/${agentId}/draft`, { sources })
  const { version } = (await client.request('GET', `/agents/${agentId}/draft/changes`)).body
  const published = await client.request('POST', `/agents/${agentId}/draft/publish`, { version })
  assert.equal(published.status, 200)
  await service.ctx.indexer.run(service.ctx.db)
  await service.ctx.generations.idle()

  const before = await rowsWith([MARK, '4930901820'], stranger.client.accountId)
  const held = new Set(before.map((row) => row.split(':')[0]?.replace('public.', '')))
  for (const table of `conversations messages tool_calls leads tickets contacts sources chunks requests
    generation_log conversation_search conversation_counts channel_threads inbound_messages deliveries attachments
    ticket_messages held_replies unanswered_groups unanswered_questions topic_candidates
    answer_cases answer_runs answer_results`.split(/\s+/))
    assert.ok(held.has(table), `${table} holds nothing of the person before`)
  const othersBefore = await ofOther(client)

  const { counts } = await erased(client, { userId: PERSON.userId })
  assert.deepEqual([counts.conversations, counts.leads, counts.tickets, counts.contacts], [4, 2, 2, 1])
  assert.deepEqual(await rowsWith([MARK, '4930901820'], stranger.client.accountId), [])
  assert.deepEqual(await ofOther(client), othersBefore)
  assert.ok((await rowsWith([PERSON.userId], 'nobody')).length >= 3, 'the same name in another account stays')
  await noFileHolds(client)

  // Anything learned from the person disappears from answers at once; the company's own answer remains.
  await trained(world, 1)
  models.requests.length = 0
  await say(world, { message: 'How long is the warranty of a lamp?', userId: 'other-user' })
  const asked = JSON.stringify(models.requests.map(({ body }) => body))
  assert.doesNotMatch(asked, new RegExp(MARK, 'i'))
  const { body: source } = await client.request('GET', `/agents/${agentId}/sources/${correction}`)
  assert.deepEqual([source.metadata, source.type], [null, 'qna'])
  assert.match(source.name, /^Since March it is twelve years/)
  const again = await erased(client, { email: PERSON.email.toUpperCase() })
  assert.deepEqual(new Set(Object.values(again.counts)), new Set([0]))
})

/** The conversations of the other user as the API returns them. */
async function ofOther(client: Client): Promise<unknown> {
  const { rows } = await sql<{ row: string }>`
    select m.parts::text || m.role || c.id as row from messages as m
    join conversations as c on c.id = m.conversation_id
    where c.account_id = ${client.accountId} and c.user_id = 'other-user' order by m.seq`.execute(
    service.ctx.db,
  )
  assert.equal(rows.length, 2)
  return rows
}

async function noFileHolds(client: Client): Promise<void> {
  const folder = join(service.ctx.filesDir, client.accountId)
  for (let left = 100; ; left--) {
    const names = await readdir(folder, { recursive: true, withFileTypes: true })
    const files = names.filter((entry) => entry.isFile())
    const texts = await Promise.all(
      files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8').catch(() => '')),
    )
    if (!texts.some((text) => text.includes(MARK))) return
    assert.ok(left > 0, 'a file is still there')
    await wait(50)
  }
}

test('a reply in progress ends, and cannot restore the conversation', async () => {
  const world = await makeWorld(service, models)
  models.queue.push({ tokens: [`Dear ${MARK}`, ' and', ' so on'], stallAfter: 2 })
  const response = await world.client.raw('POST', `/agents/${world.agentId}/chat`, {
    body: JSON.stringify({ message: `Hello from ${MARK}`, userId: PERSON.userId }),
    headers: { 'content-type': 'application/json' },
  })
  const reader = response.body!.getReader()
  let shown = ''
  while (!shown.includes(MARK)) shown += Buffer.from((await reader.read()).value ?? []).toString()
  const { counts } = await erased(world.client, { userId: PERSON.userId })
  assert.equal(counts.conversations, 1)
  while (!(await reader.read()).done);
  await service.ctx.generations.idle()
  assert.deepEqual(await ofAccount(world), [])
})

const ofAccount = async ({ client }: World): Promise<string[]> => {
  const all = await rowsWith([MARK], 'nobody')
  return all.filter((row) => row.includes(client.accountId))
}

test('whatever arrives during the erasure is erased too; what comes later stays', async () => {
  const world = await makeWorld(service, models)
  const { db } = service.ctx
  const { userId } = PERSON
  await say(world, { message: MARK, userId })
  const person = { userIds: [userId], contactIds: [], emails: [], phones: [] }
  const { metadata } = await say(world, { message: `${MARK} is busy`, userId })
  await db
    .updateTable('generations')
    .set({ status: 'running' })
    .where('conversation_id', '=', metadata.conversationId)
    .execute()
  const erasure = await db
    .transaction()
    .execute((trx) => addErasure(trx, world.client.accountId, 'test', person))
  const needs = { db, jobs: service.ctx.jobs, stop: () => arrive() }
  let arrived = 0
  async function arrive(): Promise<void> {
    if (arrived++ > 0) return
    await say(world, { message: `${MARK} goes on`, conversationId: metadata.conversationId }).catch(() => {})
    await say(world, { message: `${MARK} begins anew`, userId })
    await addContact(world)
  }
  const { conversations, contacts, person: left } = await eraseUser(needs, erasure)
  await sql`update credit_entries set state = 'settled' where state = 'reserved'`.execute(db)
  assert.deepEqual([conversations, contacts, left, arrived], [3, 1, null, 1])
  assert.deepEqual(await ofAccount(world), [])
  await say(world, { message: 'Back again', userId })
  await eraseUser(needs, erasure)
  assert.equal(
    (
      await db
        .selectFrom('conversations')
        .where('account_id', '=', world.client.accountId)
        .selectAll()
        .execute()
    ).length,
    1,
  )
})

test('an unfinished erasure is resumed, and a long conversation is deleted in pieces', async () => {
  const world = await makeWorld(service, models)
  const { db } = service.ctx
  const { metadata } = await say(world, { message: MARK, userId: PERSON.userId })
  await sql`
    insert into messages (id, account_id, agent_id, conversation_id, seq, role, parts)
    select gen_random_uuid(), account_id, agent_id, id, n, 'user', '[]' from conversations, generate_series(3, 4500) as n
    where id = ${metadata.conversationId}`.execute(db)
  await sql`update conversations set last_seq = 4500 where id = ${metadata.conversationId}`.execute(db)
  const person = { userIds: [PERSON.userId], contactIds: [], emails: [], phones: [] }
  const erasure = await db
    .transaction()
    .execute((trx) => addErasure(trx, world.client.accountId, 'test', person))
  await sql`update user_erasures set touched_at = now() - interval '5 minutes' where id = ${erasure.id}`.execute(
    db,
  )
  await Promise.all([resumeErasures(service.ctx), resumeErasures(service.ctx)])
  for (;;) {
    const { data } = (await world.client.request('GET', `/users/erasures/${erasure.id}`)).body
    if (data.status === 'finished') {
      assert.deepEqual([data.counts.conversations, data.counts.messages], [1, 4500])
      return
    }
    await wait(30)
  }
})

test('a mail that waits to be sent to the person is gone when the erasure is requested', async () => {
  const world = await makeWorld(service, models)
  const { db } = service.ctx
  const { accountId } = world.client
  const author = await memberOf(service, accountId, 'owner', { email: `held-${accountId}@shop.example` })
  const held = async (kind: 'mail' | 'reply', ticketId: string | null, to?: string[]) =>
    db
      .insertInto('held_replies')
      .values({
        id: newId(),
        account_id: accountId,
        agent_id: world.agentId,
        ticket_id: ticketId,
        kind,
        author_id: author.memberId,
        reply: json({ content: 'Hello', ...(to ? { to } : {}) }),
        due_at: new Date(0),
        error: null,
      })
      .execute()
  const ticket = await world.client.request('POST', `/agents/${world.agentId}/helpdesk/tickets`, {
    subject: 'Lamp',
    description: 'It is dark.',
    customer: { email: PERSON.email },
  })
  assert.equal(ticket.status, 201, JSON.stringify(ticket.body))
  const { id } = await db
    .selectFrom('tickets')
    .select('id')
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  await held('reply', id)
  await held('mail', null, [PERSON.email])
  await held('mail', null, ['somebody@example.com'])
  const person = { userIds: [], contactIds: [], emails: [PERSON.email], phones: [] }
  await transact(db, (trx) => addErasure(trx, accountId, 'test', person))
  const left = await db
    .selectFrom('held_replies')
    .select('reply')
    .where('account_id', '=', accountId)
    .execute()
  assert.deepEqual(
    left.map(({ reply }) => reply.to),
    [['somebody@example.com']],
  )
})
