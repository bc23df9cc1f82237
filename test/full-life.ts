import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { createMember } from '../server/accounts/records/members.ts'
import { newId } from '../server/platform/db/ids.ts'
import { json } from '../server/platform/db/statements/json.ts'
import type { ModelServer } from './fakes/model-server.ts'
import type { Client, Service } from './start.ts'

/** A marker contained in everything that the person of these tests says and in all their names. */
export const MARK = 'markerzq'
export const PERSON = {
  userId: `${MARK}-user`,
  email: `${MARK}@example.com`,
  phone: '+4930901820',
  name: `Anna ${MARK}`,
}
export const QUESTION = `How long is the warranty of the ${MARK} lamp?`

export type World = { service: Service; client: Client; agentId: string; models: ModelServer }

type Say = { message?: string; userId?: string; conversationId?: string }

/** Sends a chat message without streaming and returns the `data` of the response. */
export async function say({ client, agentId }: World, body: Say, headers: Record<string, string> = {}) {
  const { body: answer, status } = await client.request(
    'POST',
    `/agents/${agentId}/chat`,
    { stream: false, ...body },
    headers,
  )
  if (status !== 200) throw new Error(JSON.stringify(answer))
  return answer.data
}

/** Creates an account with an agent that has actions and answers from solved tickets. */
export async function makeWorld(service: Service, models: ModelServer): Promise<World> {
  const client = await service.account()
  const agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  const inputs = { type: 'object', properties: { place: { type: 'string' } } }
  for (const action of [
    { name: 'show_map', type: 'client', description: 'd', inputs },
    { name: 'take_lead', type: 'collect-leads', description: 'd' },
    { name: 'ask_a_person', type: 'escalate', description: 'd' },
  ])
    await client.request('POST', `/agents/${agentId}/actions`, action)
  await client.request('PUT', `/agents/${agentId}/ticket-knowledge`, { enabled: true })
  return { service, client, agentId, models }
}

/** Creates a contact for the person, with a custom attribute. */
export async function addContact({ client, agentId }: World): Promise<void> {
  const v1 = `/api/v1/chatbots/${agentId}`
  const attribute = { name: 'note', type: 'text', label: 'Note', description: 'x' }
  await client.request('POST', `${v1}/custom-attributes`, attribute)
  const { userId, name, email, phone } = PERSON
  const user = { external_id: userId, name, email, phonenumber: phone }
  const users = [{ ...user, custom_attributes: { note: `likes ${MARK}` } }]
  const { status, body } = await client.request('POST', `${v1}/contacts`, { users })
  if (status >= 300) throw new Error(JSON.stringify(body))
}

/**
 * Creates everything that the service can store about the person, mostly through the API. Rows of channels are
 * inserted directly.
 */
export async function liveFully(world: World): Promise<{ conversationId: string; correction: string }> {
  const { client, agentId, models } = world
  await addContact(world)
  const { userId, email, phone, name } = PERSON
  const call = (tool: string, input: unknown) => [{ id: 'call_1', name: tool, input }]
  models.queue.push({ tokens: [`Dear ${MARK}, eleven years.`] })
  const wrong = await say(world, { message: QUESTION, userId }, { 'idempotency-key': `chat-${userId}-1` })
  const { conversationId } = wrong.metadata
  const here = `/agents/${agentId}/conversations/${conversationId}`
  await client.request('PATCH', `${here}/messages/${wrong.id}/feedback`, { feedback: 'negative' })

  models.queue.push({ tokens: ['Look. '], toolCalls: call('show_map', { place: `${MARK} street` }) })
  const waiting = await say(world, { message: `Where is ${MARK}?`, conversationId })
  const { toolCallId } = waiting.parts.find(({ type }: { type: string }) => type === 'tool-call')
  await client.request('POST', `${here}/tool-result`, { toolCallId, output: { seen: MARK } })
  await say(world, { conversationId })
  models.queue.push({ toolCalls: call('take_lead', { name, email, phone }) }, { tokens: ['Noted.'] })
  await say(world, { message: `I am ${name}`, conversationId })
  const ticket = { subject: `The ${MARK} lamp`, summary: `${MARK} asks`, email }
  models.queue.push({ toolCalls: call('ask_a_person', ticket) }, { tokens: ['Somebody will come.'] })
  await say(world, { message: `${MARK} wants a person`, conversationId })
  await solveTicket(world, conversationId)

  const corrected = { answer: 'Since March it is twelve years, for every lamp that we sell.' }
  const correct = `${here}/messages/${wrong.id}/correction`
  const source = await client.request('POST', correct, corrected, { 'idempotency-key': 'correction-1' })
  await testAnswer(world, conversationId, wrong.id)
  await leaveElsewhere(world, conversationId)
  await addChannelRows(world, conversationId)
  await call1(world)
  return { conversationId, correction: source.body.id }
}

/** Makes a case of an answer, whose texts a member has left as they were, and runs it. */
async function testAnswer(
  { service, client, agentId, models }: World,
  conversationId: string,
  messageId: string,
) {
  const agent = `/agents/${agentId}`
  const proposed = await client.request('POST', `${agent}/answer-cases/from-conversation`, {
    conversationId,
    messageId,
  })
  const kept = { ...proposed.body.case, name: `Of ${MARK}`, messages: [QUESTION] }
  const made = await client.request('POST', `${agent}/answer-cases`, kept)
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  models.queue.push({ tokens: [`Dear ${MARK}, twelve years.`] })
  const { id } = (await client.request('POST', `${agent}/answer-runs`, {})).body
  for (;;) {
    const { rows } = await sql`select from answer_runs where id = ${id} and status = 'running'`.execute(
      service.ctx.db,
    )
    if (rows.length === 0) return
    await wait(30)
  }
}

/** Chats through version 1 of the API, once without and once with a stored conversation. */
async function call1({ client, agentId, models }: World): Promise<void> {
  for (const conversationId of [undefined, `v1 ${MARK}`]) {
    models.queue.push({ tokens: [`Yes, ${MARK}.`] })
    await client.request('POST', '/api/v1/chat', {
      chatbotId: agentId,
      messages: [{ role: 'user', content: `It is me, ${MARK}` }],
      contactId: PERSON.userId,
      ...(conversationId ? { conversationId } : {}),
    })
  }
}

/**
 * A team member takes the conversation over, replies and hands it back, so that the ticket is closed and becomes
 * knowledge.
 */
async function solveTicket({ service, client, agentId }: World, conversationId: string): Promise<void> {
  const account = { id: client.accountId, plan: 'unlimited' }
  const person = { email: 'team@example.com', name: 'Team' }
  await createMember(service.ctx.db, account, person)
  const here = `/agents/${agentId}/conversations/${conversationId}`
  await client.request('POST', `${here}/takeover`, { memberEmail: person.email })
  const text = `The ${MARK} lamp has a warranty of thirteen years, and we send a new one for free.`
  await sql`
    with moved as (
      update conversations set last_seq = last_seq + 1 where id = ${conversationId} returning *)
    insert into messages (id, account_id, agent_id, conversation_id, seq, role, parts, metadata)
    select ${newId()}::uuid, account_id, agent_id, id, last_seq, 'assistant', ${json([{ type: 'text', text }])},
      ${json({ author: { type: 'human_agent', name: 'Team' } })} from moved`.execute(service.ctx.db)
  await client.request('POST', `${here}/handback`)
  // Enabling it again gathers the tickets now instead of at the next regular check.
  await client.request('PUT', `/agents/${agentId}/ticket-knowledge`, { enabled: true })
}

/**
 * Creates records that only mention the person: an anonymous conversation with a lead, a ticket, and a conversation
 * that continues theirs.
 */
async function leaveElsewhere(world: World, parentConversationId: string): Promise<void> {
  const { service, client, agentId, models } = world
  models.queue.push({ tokens: ['Go on.'] })
  const following = await say(world, { message: 'I go on' })
  // Only former versions let a chat without a user continue the conversation of one.
  await service.ctx.db
    .updateTable('conversations')
    .set({ parent_conversation_id: parentConversationId, parent_summary: `They said ${MARK}.` })
    .where('account_id', '=', client.accountId)
    .where('id', '=', following.metadata.conversationId)
    .execute()
  const anonymous = await say(world, { message: `I am nobody, ${MARK}` })
  const own = { account_id: client.accountId, agent_id: agentId }
  const { email, name } = PERSON
  await service.ctx.db
    .insertInto('leads')
    .values({ id: newId(), ...own, conversation_id: anonymous.metadata.conversationId, name, email })
    .execute()
  await service.ctx.db
    .insertInto('tickets')
    .values({
      id: newId(),
      ...own,
      number: 50,
      subject: MARK,
      description: MARK,
      status_category: 'closed',
      customer: json({ id: null, name, email: email.toUpperCase(), phoneNumber: null }),
      metadata: json({ note: MARK }),
      channel: 'email',
    })
    .execute()
  const mail = { to: [email], name, subject: MARK, content: MARK, holdSeconds: 60 }
  const held = { ...mail, authorEmail: 'team@example.com' }
  const answer = await client.request('POST', `/agents/${agentId}/helpdesk/held-mails`, held)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
}

/** Inserts what channels, the help desk and the insights store about a conversation. */
async function addChannelRows({ service, client, agentId }: World, conversationId: string): Promise<void> {
  const { db, filesDir } = service.ctx
  const own = { account_id: client.accountId, agent_id: agentId }
  const [threadId, ticketMessage, group] = [newId(), newId(), newId()]
  const path = `${client.accountId}/${agentId}/attachments/${newId()}`
  await mkdir(dirname(join(filesDir, path)), { recursive: true })
  await writeFile(join(filesDir, path), MARK)
  const { id: ticket_id } = await db
    .selectFrom('tickets')
    .select('id')
    .where('conversation_id', '=', conversationId)
    .executeTakeFirstOrThrow()
  const { id: message_id } = await db
    .selectFrom('messages')
    .select('id')
    .where('conversation_id', '=', conversationId)
    .where('role', '=', 'assistant')
    .limit(1)
    .executeTakeFirstOrThrow()
  const { id: generation_id } = await db
    .selectFrom('generations')
    .select('id')
    .where('conversation_id', '=', conversationId)
    .limit(1)
    .executeTakeFirstOrThrow()
  await sql`
    insert into channel_threads (id, account_id, agent_id, channel, connection, peer, data)
    values (${threadId}, ${own.account_id}, ${agentId}, 'messaging', '1', ${PERSON.phone}, ${json({ name: MARK })})`.execute(
    db,
  )
  await db
    .insertInto('inbound_messages')
    .values({
      id: newId(),
      ...own,
      thread_id: threadId,
      provider_message_id: MARK,
      content: json({ text: MARK, attachments: [] }),
      sent_at: new Date(),
      message_id: null,
    })
    .execute()
  await db
    .insertInto('attachments')
    .values({
      id: newId(),
      ...own,
      conversation_id: conversationId,
      ticket_id,
      name: MARK,
      media_type: 'text/plain',
      size: 8,
      path,
    })
    .execute()
  await db
    .insertInto('ticket_messages')
    .values({
      id: ticketMessage,
      ...own,
      ticket_id,
      type: 'reply',
      sender: json({ type: 'customer', id: null, name: MARK, email: PERSON.email }),
      content: MARK,
      content_text: MARK,
      attachments: json([]),
      metadata: json({ MARK }),
      message_id: null,
    })
    .execute()
  await sql`
    insert into deliveries (id, account_id, agent_id, channel, lane, ordinal, thread_id, ticket_message_id, content)
    values (${newId()}, ${own.account_id}, ${agentId}, 'messaging', ${threadId}, 1, ${threadId}, ${ticketMessage},
      ${json({ text: MARK })})`.execute(db)
  await db
    .insertInto('unanswered_groups')
    .values({
      id: group,
      ...own,
      question: QUESTION,
      key: QUESTION.toLowerCase(),
      source_id: null,
      last_asked_at: new Date(),
    })
    .execute()
  const question = { account_id: own.account_id, agent_id: agentId, conversation_id: conversationId }
  await db
    .insertInto('unanswered_questions')
    .values({
      message_id,
      ...question,
      group_id: group,
      question: QUESTION,
      suggested_answer: MARK,
      asked_at: new Date(),
    })
    .execute()
  await db
    .insertInto('topic_candidates')
    .values({ ...question, key: MARK, label: MARK, origin: 'heuristic' })
    .execute()
  await db
    .insertInto('generation_log')
    // This row comes after those of the generation itself.
    .values({
      generation_id,
      account_id: own.account_id,
      position: 1_000,
      events: JSON.stringify([['text-1', MARK]]),
    })
    .execute()
}

/** Requests an erasure, waits for its end and returns it. */
export async function erased(client: Client, body: object) {
  const { status, body: answer } = await client.request('POST', '/users/erase', body)
  if (status !== 202) throw new Error(JSON.stringify(answer))
  for (;;) {
    const { data } = (await client.request('GET', `/users/erasures/${answer.data.id}`)).body
    if (data.status === 'finished') return data
    await wait(30)
  }
}
