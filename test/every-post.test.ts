import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createMember } from '../server/accounts/records/members.ts'
import { contracts } from '../server/features.ts'
import { newId } from '../server/platform/db/ids.ts'
import { json } from '../server/platform/db/statements/json.ts'
import type { Endpoint } from '../server/platform/http/contract.ts'
import { version1Routes } from '../server/v1/routes.ts'
import { addIdentities } from './add-identities.ts'
import { addSilentMail } from './add-silent-mail.ts'
import { type MessagingServer, startMessagingServer } from './fakes/messaging-server.ts'
import { fakeTemplate } from './fakes/messaging-wire.ts'
import { ACCOUNT, envFor, NUMBER } from './messaging-home.ts'
import { type Schema, sampleOf } from './sample.ts'
import { type Client, type Service, startService } from './start.ts'

/**
 * Sends every POST request of the contracts twice with the same Idempotency-Key, and expects one answer and one
 * effect.
 */

let service: Service
let fake: MessagingServer

before(async () => {
  fake = await startMessagingServer()
  fake.accounts.set(ACCOUNT, {
    token: 'token-1',
    numbers: [{ id: NUMBER, phone: '+1 555-000-1111', name: 'Shop' }],
    templates: [fakeTemplate('plain', 'Hello')],
  })
  // Without background work, every change is caused by a request.
  service = await startService(envFor(fake), undefined, { idle: true })
})
after(async () => {
  await service.close()
  await fake.close()
})

type World = { client: Client; ids: Record<string, string> }

/** Creates an account with one of everything that a POST request may concern. */
async function world(): Promise<World> {
  const client = await service.account()
  const { db } = service.ctx
  const post = async (path: string, body: object) => {
    const answer = await client.request('POST', path, body)
    assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const account = { id: client.accountId, plan: 'unlimited' }
  await createMember(db, account, { email: 'ann@example.com', name: 'Ann' })
  const agentId: string = (await post('/agents', { name: 'Agent' })).id
  const agent = `/agents/${agentId}`
  for (const instructions of ['Be short.', 'Be long.']) await client.request('PUT', agent, { instructions })
  const told = (await client.request('GET', `${agent}/instructions/versions`)).body.data
  const said = (await post(`${agent}/chat`, { message: 'What is it?', stream: false })).data
  const { conversationId } = said.metadata
  const taken = (await post(`${agent}/chat`, { message: 'A person, please', stream: false })).data.metadata
  await post(`${agent}/conversations/${taken.conversationId}/takeover`, { memberEmail: 'ann@example.com' })
  const ticket = { subject: 'Late', description: 'Where is it?', customer: { email: 'eve@example.org' } }
  const { ticketNumber } = await post(`${agent}/helpdesk/tickets`, ticket)
  const author = { authorEmail: 'ann@example.com' }
  const reply = { type: 'reply', content: 'Here.', ...author }
  const ticketMessage = await post(`${agent}/helpdesk/tickets/${ticketNumber}/messages`, reply)
  const canned = { name: 'Hello', content: 'Hello {{customer.name}}' }
  const [topicId, intoTopicId] = [
    (await post(`${agent}/topics`, { name: 'One' })).id,
    (await post(`${agent}/topics`, { name: 'Two' })).id,
  ]
  const action = { name: 'look', type: 'client', description: 'x', inputs: { type: 'object' } }
  const actionId = (await post(`${agent}/actions`, action)).id
  const people = [(await post(`${agent}/contacts`, {})).id, (await post(`${agent}/contacts`, {})).id]
  const cannedReplyId = (await post(`${agent}/helpdesk/canned-replies`, canned)).id
  const sourceId = (await post(`${agent}/sources`, text)).id
  const { id: caseId } = await post(`${agent}/answer-cases`, { name: 'x', messages: ['x'], expect: {} })
  const { id: answerRunId } = await post(`${agent}/answer-runs`, {})
  await post(`${agent}/answer-runs/${answerRunId}/cancel`, {})
  await client.request('PUT', `${agent}/draft`, { instructions: 'Be kind.' })
  const { version } = (await client.request('GET', `${agent}/draft/changes`)).body
  await post(`${agent}/draft/publish`, { version })
  await client.request('PUT', `${agent}/draft`, { instructions: 'Be quick.' })
  const agentVersionId = (await client.request('GET', `${agent}/versions`)).body.data.at(-1).id
  const checks = [{ kind: 'means', expected: 'x', passed: true, reason: 'x' }]
  const result = { ...ANSWERED, caseId, name: 'x', checks }
  await db
    .insertInto('answer_results')
    .values({
      run_id: answerRunId,
      place: 0,
      repetition: 10,
      account_id: client.accountId,
      result: json(result),
    })
    .execute()
  const groupId = newId()
  const siteId = newId()
  const owned = { account_id: client.accountId, agent_id: agentId }
  await db
    .insertInto('unanswered_groups')
    .values({ ...owned, id: groupId, question: 'Why?', key: 'why', count: 1, last_asked_at: new Date() })
    .execute()
  const paused = { kind: 'chain', addresses: ADDRESSES, example: 'https://example.com/cal?m=1', count: 1 }
  const children = { included: 1, excluded: 1, failed: 0 }
  const site = { type: 'link', link_type: 'crawl', name: 'Site', url: 'https://example.com' } as const
  await db
    .insertInto('sources')
    .values({
      ...owned,
      ...site,
      id: siteId,
      status: 'trained',
      content: json({}),
      metadata: json({ type: 'crawl', children, paused: [paused] }),
    })
    .execute()
  const toolCallId = newId()
  const call = {
    id: toolCallId,
    conversation_id: conversationId,
    message_id: said.id,
    generation_id: newId(),
  }
  await db
    .insertInto('tool_calls')
    .values({
      ...owned,
      ...call,
      name: 'look',
      type: 'client',
      input: json({}),
      status: 'pending',
      expires_at: new Date(Date.now() + 60_000),
    })
    .execute()
  const connected = await client.request('PUT', `${agent}/messaging/connection`, {
    accounts: [{ businessAccountId: ACCOUNT, accessToken: 'token-1', appSecret: 's', verifyToken: 'v' }],
    baseUrl: fake.url,
  })
  assert.equal(connected.status, 200)
  const smtp = { host: '127.0.0.1', port: 1, security: 'none', username: 'u', password: 'p' }
  const mailbox = {
    address: `${agentId}@shop.example`.toLowerCase(),
    smtp,
    inboundSecret: 'a secret of some length',
  }
  const mail = await client.request('PUT', `${agent}/email/connection`, mailbox)
  assert.equal(mail.status, 200, JSON.stringify(mail.body))
  const [contactId = '', intoContactId = ''] = people
  const heldNoteId = newId()
  await sql`
    insert into ticket_messages (id, account_id, agent_id, ticket_id, type, sender, attachments, metadata)
    select ${heldNoteId}::uuid, account_id, agent_id, ticket_id, 'note', sender, attachments,
      ${JSON.stringify({ held: { messageId: said.id, ungrounded: [] } })}::jsonb
    from ticket_messages where account_id = ${client.accountId} and id = ${ticketMessage.id}`.execute(db)
  const identityId = await addIdentities(db, owned, contactId)
  const mailId = await addSilentMail(db, owned)
  const ids = {
    ...{
      agentId,
      conversationId,
      toolCallId,
      ticketNumber: String(ticketNumber),
      cannedReplyId,
      groupId,
      sourceId,
    },
    ...{
      topicId,
      caseId,
      answerRunId,
      intoTopicId,
      actionId,
      contactId,
      identityId,
      mailId,
      intoContactId,
      answerId: said.id,
      siteId,
      ticketMessageId: ticketMessage.id,
      heldNoteId,
    },
    ...{ takenId: taken.conversationId, chatbotId: agentId, versionId: told.at(-1).id },
  }
  const restoredVersion = (await client.request('GET', `${agent}/versions/${agentVersionId}`)).body.version
  const draftVersion = (await client.request('GET', `${agent}/draft/changes`)).body.version
  await service.ctx.generations.idle()
  return { client, ids: { ...ids, agentVersionId, draftVersion, restoredVersion } }
}

/** A result of a test of answers, without what it is about. */
const ANSWERED = {
  repetition: 10,
  passed: true,
  messages: [],
  calls: [],
  sources: [],
  outcome: null,
  model: null,
  credits: 0,
  inputTokens: null,
  outputTokens: null,
  dollars: null,
  firstMs: null,
  ms: 1,
  error: null,
}

type Ids = Record<string, string>
type Asked = { ids?: Ids; body?: object; form?: (ids: Ids) => FormData }

const ADDRESSES = '/cal?m=…'
const text = { type: 'text', name: 'Text', content: 'Open from nine to five.' }
const author = { authorEmail: 'ann@example.com' }
const fileForm = (name: string, fields: Ids = {}, file = new Blob(['Open from nine to five.'])) => {
  const form = new FormData()
  for (const [field, value] of Object.entries(fields)) form.set(field, value)
  form.set(name, file, 'notes.txt')
  return form
}
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** Requests for the endpoints that do not succeed with the smallest body that the schema accepts. */
const asked: Record<string, (ids: Ids) => Asked> = {
  chat: () => ({ body: { message: 'Hello?', stream: false } }),
  'v1 chat': (ids) => ({
    body: { chatbotId: ids.agentId, messages: [{ role: 'user', content: 'Hello?' }] },
  }),
  createAgent: () => ({ body: { name: 'Other', url: 'https://example.com/help' } }),
  createSource: () => ({ body: text }),
  'createSource by upload': () => ({ form: () => fileForm('file', { name: 'Notes' }) }),
  createDraftSource: () => ({ body: { source: text } }),
  restoreVersion: ({ restoredVersion }) => ({ body: { version: restoredVersion } }),
  publishDraft: ({ draftVersion }) => ({ body: { version: draftVersion } }),
  runPlayground: () => ({ body: { message: 'Hello?', stream: false } }),
  retry: ({ answerId }) => ({ body: { messageId: answerId, stream: false } }),
  submitToolResult: ({ toolCallId }) => ({ body: { toolCallId, output: 1 } }),
  proposeCaseFromConversation: ({ conversationId }) => ({ body: { conversationId } }),
  createAnswerCase: () => ({ body: { name: 'x', messages: ['x'], expect: {} } }),
  importAnswerCases: () => ({
    body: { format: 'json', content: JSON.stringify([{ name: 'x', messages: ['x'], expect: {} }]) },
  }),
  correctAnswer: ({ answerId = '' }) => ({ ids: { messageId: answerId } }),
  takeOverConversation: () => ({ body: { memberEmail: 'ann@example.com' } }),
  handBackConversation: ({ takenId = '' }) => ({ ids: { conversationId: takenId } }),
  readOnSource: ({ siteId = '' }) => ({ ids: { sourceId: siteId }, body: { addresses: ADDRESSES } }),
  replyToTicket: () => ({ body: { type: 'reply', content: 'x', ...author } }),
  retryTicketMessage: ({ ticketMessageId = '' }) => ({ ids: { messageId: ticketMessageId } }),
  discardHeldAnswer: ({ heldNoteId = '' }) => ({ ids: { messageId: heldNoteId }, body: author }),
  blockSender: () => ({ body: { sender: 'spam.example' } }),
  writeMail: () => ({ body: { to: ['eve@example.org'], subject: 'x', content: 'x', ...author } }),
  forwardTicket: () => ({ body: { to: ['bob@example.org'], ...author } }),
  holdReply: () => ({ body: { content: 'x', ...author } }),
  holdMail: () => ({ body: { to: ['eve@example.org'], subject: 'x', content: 'x', ...author } }),
  holdForward: () => ({ body: { to: ['bob@example.org'], ...author } }),
  addTicketNote: () => ({ body: { content: 'x @ann@example.com', ...author } }),
  fillCannedReply: ({ ticketNumber }) => ({ body: { ticketNumber: Number(ticketNumber), ...author } }),
  beginMailSignIn: () => ({
    body: { provider: 'google', connection: { address: 'a@b.example', oauth: { clientId: 'c' } } },
  }),
  uploadAttachment: () => ({ form: () => fileForm('file') }),
  sendMessagingTemplate: () => ({ body: { to: '15550107070', template: { name: 'plain' } } }),
  createInboxView: () => ({ body: { name: 'Urgent', owner: 'all', query: { priority: 'urgent' } } }),
  changeInboxTickets: ({ agentId, ticketNumber }) => ({
    body: { tickets: [{ agentId, ticketNumber: Number(ticketNumber) }], priority: 'low' },
  }),
  createInvitation: () => ({ body: { email: 'new@example.com', role: 'viewer' } }),
  reviewAnswer: ({ caseId }) => ({
    body: { caseId, repetition: 10, judgement: 'means', agrees: false, note: 'x' },
  }),
  mergeContact: ({ intoContactId }) => ({ body: { intoContactId } }),
  mergeTopic: ({ intoTopicId }) => ({ body: { intoTopicId } }),
  eraseUser: () => ({ body: { userId: 'user-1' } }),
  createChatbot: () => ({ body: { chatbotName: 'Bot', sourceText: 'Open from nine to five.' } }),
  updateChatbotData: ({ agentId }) => ({
    body: { chatbotId: agentId, chatbotName: 'Bot', sourceText: 'Open from nine to five.' },
  }),
  updateChatbotSettings: ({ agentId }) => ({ body: { chatbotId: agentId, name: 'Bot' } }),
  createContacts: () => ({ body: { users: [{ external_id: 'e-1' }, { external_id: 'e-2' }] } }),
  uploadIcon: () => ({
    form: ({ agentId = '' }) => fileForm('chatbotIconFile', { chatbotId: agentId }, new Blob([PIXEL])),
  }),
  uploadProfilePicture: () => ({
    form: ({ agentId = '' }) => fileForm('profilePictureFile', { chatbotId: agentId }, new Blob([PIXEL])),
  }),
}

/**
 * Endpoints whose answer is generated again. They change none of the customer's data, and the answer is a stream of
 * unlimited length.
 */
const MADE_AGAIN = ['exportUser', 'exportAccount']

async function send({ client, ids }: World, endpoint: Endpoint, prefix: string, name: string, key: string) {
  const request = asked[name]?.(ids) ?? {}
  const named = { ...ids, ...request.ids }
  const path =
    prefix + endpoint.path.replace(/\{(\w+)\}/g, (_, parameter: string) => named[parameter] ?? 'none')
  const sample = endpoint.body ? sampleOf(endpoint.body as Schema) : undefined
  const form = request.form?.(ids)
  const sent = form ?? (request.body || sample ? JSON.stringify(request.body ?? sample) : undefined)
  const answer = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${client.key}`,
      'idempotency-key': key.replaceAll(/[^\w-]/g, '-'),
      ...(form || (!request.body && !sample) ? {} : { 'content-type': 'application/json' }),
    },
    ...(sent === undefined ? {} : { body: sent }),
  })
  // An answer that is built from a stored reply may have its members in another order.
  const body: unknown = JSON.parse(await answer.text())
  await service.ctx.generations.idle()
  return { status: answer.status, body, replayed: answer.headers.get('idempotency-replayed') }
}

let tables: string[] = []

/**
 * Returns the number of rows of each table and a hash of their content. The sums of credits are left out because
 * their number of rows depends on how many requests wrote concurrently; the entries of the ledger are included.
 */
async function look(): Promise<Map<string, { rows: number; hash: string }>> {
  if (tables.length === 0) {
    const { rows } = await sql<{ name: string }>`
      select table_schema || '.' || table_name as name from information_schema.tables
      where table_type = 'BASE TABLE' and (table_schema = 'public' and table_name not in ('requests', 'api_keys', 'processes', 'credit_usage'))`.execute(
      service.ctx.db,
    )
    tables = rows.map(({ name }) => name)
  }
  const parts = tables.map(
    (name) => sql`select ${sql.lit(name)} as name, count(*)::int as rows,
      md5(coalesce(string_agg(md5(t::text), '' order by md5(t::text)), '')) as hash from ${sql.table(name)} as t`,
  )
  const { rows } = await sql<{
    name: string
    rows: number
    hash: string
  }>`${sql.join(parts, sql` union all `)}`.execute(service.ctx.db)
  return new Map(rows.map(({ name, rows: count, hash }) => [name, { rows: count, hash }]))
}

type Look = Awaited<ReturnType<typeof look>>

/** The log of an answer has as many rows as the answer took time, so it is left out. */
const added = (before: Look, after: Look): Record<string, number> =>
  Object.fromEntries(
    [...after]
      .filter(([name]) => name !== 'public.generation_log')
      .map(([name, { rows }]) => [name, rows - (before.get(name)?.rows ?? 0)] as const)
      .filter(([, count]) => count !== 0),
  )

/** Returns the answer as it is stored, which is without secrets that are shown only once. */
const withoutShownOnce = ({ shownOnce = [] }: Endpoint, body: unknown): unknown =>
  shownOnce.length === 0
    ? body
    : { ...(body as object), ...Object.fromEntries(shownOnce.map((name) => [name, null])) }

type Case = { endpoint: Endpoint; prefix: string; name: string }

const version2: Case[] = contracts
  // Endpoints for members only cannot be called with an API key. They are tested with sessions in server/accounts/sign-in.
  .filter(({ method, scope, onlySessions }) => method === 'POST' && scope !== null && !onlySessions)
  .map((endpoint) => ({ endpoint, prefix: '/api/v2', name: endpoint.name }))
const upload = version2
  .filter(({ name }) => name === 'createSource')
  .map((one) => ({ ...one, name: 'createSource by upload' }))
const version1 = (): Case[] =>
  version1Routes(service.ctx)
    .filter(({ endpoint }) => endpoint.method === 'POST')
    .map(({ endpoint }) => ({
      endpoint,
      prefix: '/api/v1',
      name: endpoint.name === 'chat' ? 'v1 chat' : endpoint.name,
    }))

/**
 * Two accounts to which the same happens, one after the other: each request is sent once to the first and three times
 * at once to the second.
 */
type Twins = { first: World; second: World }
const twins = async (): Promise<Twins> => ({ first: await world(), second: await world() })

for (const version of [() => [...version2, ...upload], version1]) {
  test('repeating any POST returns the same response and has one effect', async (t) => {
    let both = await twins()
    for (const { endpoint, prefix, name } of version()) {
      if (MADE_AGAIN.includes(name)) continue
      await t.test(name, async () => {
        const keys = { one: `one-${prefix}-${name}`, three: `three-${prefix}-${name}` }
        let before = await look()
        let one = await send(both.first, endpoint, prefix, name, keys.one)
        if (one.status >= 300) {
          // An earlier request has used up what this one needs.
          both = await twins()
          before = await look()
          one = await send(both.first, endpoint, prefix, name, keys.one)
        }
        assert.ok(one.status < 300, JSON.stringify(one))
        assert.equal(one.replayed, null)
        const between = await look()
        const two = await send(both.first, endpoint, prefix, name, keys.one)
        const kept = (body: unknown) => withoutShownOnce(endpoint, body)
        assert.deepEqual([two.status, two.body, two.replayed], [one.status, kept(one.body), 'true'])
        const calm = await look()
        assert.deepEqual(calm, between)

        const three = await Promise.all(
          [1, 2, 3].map(() => send(both.second, endpoint, prefix, name, keys.three)),
        )
        for (const { status, body } of three)
          assert.deepEqual([status, kept(body)], [one.status, kept(three[0]?.body)], name)
        assert.equal(three.filter(({ replayed }) => replayed === null).length, 1)
        assert.deepEqual(added(calm, await look()), added(before, between))
      })
    }
  })
}
