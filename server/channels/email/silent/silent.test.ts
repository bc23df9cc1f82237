import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { startBesideMailServer } from '../../../../test/beside-mail-server.ts'
import { connectTestMailbox, mail, type TestMailbox } from '../../../../test/mailbox.ts'
import type { Client } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'
import type { Scope } from '../../../platform/http/contract.ts'

const { server, models, service, close } = await startBesideMailServer()
let client: Client
let box: TestMailbox

after(close)
beforeEach(async () => {
  client = await service.account()
  box = await connectTestMailbox(service, client, { smtpPort: server.port })
  models.otherwise(() => ({ tokens: ['Two years.'] }))
})

type Listed = { id: string; reason: string; conversationId: string | null; [name: string]: unknown }

async function silent(): Promise<{ data: Listed[]; counts: unknown[] }> {
  return (await client.request('GET', `/agents/${box.agentId}/email/silent`)).body
}

/** Receives a silent mail and returns its entry once it is in a conversation. */
async function receiveSilent(headers: Record<string, string>): Promise<Listed> {
  const before = (await silent()).data.length
  await box.receive(mail('How long is the warranty?', headers))
  await until('the conversation', async () => {
    const { data } = await silent()
    return data.length > before && data[0]?.conversationId
  })
  const [newest] = (await silent()).data
  assert.ok(newest)
  return newest
}

const act = async (id: string, what: 'answer' | 'ticket') =>
  client.request('POST', `/agents/${box.agentId}/email/silent/${id}/${what}`)

test('what is stored without an answer is listed with the reason and a number', async () => {
  await box.receive(mail('Hello?'))
  assert.deepEqual(await silent(), { data: [], counts: [] })
  await receiveSilent({ 'Auto-Submitted': 'auto-replied', Subject: 'Away' })
  const { reason, from, fromName, subject, conversationId } = await receiveSilent({
    'List-Id': '<news.example.org>',
  })
  assert.deepEqual([reason, from, fromName, subject], ['list', 'ann@example.com', 'Ann', 'A question'])
  assert.ok(conversationId)
  const { data, counts } = await silent()
  assert.deepEqual(
    [data.map((one) => one.reason), counts],
    [
      ['list', 'automatic'],
      [
        { reason: 'automatic', count: 1 },
        { reason: 'list', count: 1 },
      ],
    ],
  )
})

test('a member lets the agent answer one, also after its conversation has ended', async () => {
  for (const hasEnded of [false, true]) {
    const { id, conversationId } = await receiveSilent({ 'List-Id': '<news.example.org>' })
    if (hasEnded)
      await service.ctx.db
        .updateTable('conversations')
        .set({ status: 'ended' })
        .where('id', '=', conversationId)
        .execute()
    const before = (await box.deliveries()).length
    assert.equal((await act(id, 'answer')).status, 200)
    await until('the answer', async () => (await box.deliveries()).length === before + 1)
    assert.deepEqual((await silent()).data, [])
    const again = await act(id, 'answer')
    assert.deepEqual([again.status, again.body.error.code], [404, 'RESOURCE_NOT_FOUND'])
  }
})

test('a member makes a ticket of one, which the agent then leaves alone', async () => {
  const { id } = await receiveSilent({ 'Auto-Submitted': 'auto-generated' })
  assert.equal((await act(id, 'ticket')).status, 200)
  const tickets = await client.request('GET', `/agents/${box.agentId}/helpdesk/tickets`)
  assert.deepEqual(
    tickets.body.data.map(({ subject }: { subject: string }) => subject),
    ['A question'],
  )
  assert.deepEqual((await silent()).data, [])
  const [conversation] = await box.conversations()
  assert.deepEqual([conversation?.status, (await box.deliveries()).length], ['taken_over', 0])
  assert.equal((await act(id, 'ticket')).status, 404)
})

test('a mail in a conversation that a person has is not answered by the agent', async () => {
  const { id, conversationId } = await receiveSilent({ 'List-Id': '<news.example.org>' })
  await service.ctx.db
    .updateTable('conversations')
    .set({ status: 'taken_over' })
    .where('id', '=', conversationId)
    .execute()
  const refused = await act(id, 'answer')
  assert.deepEqual([refused.status, refused.body.error.code], [409, 'CHAT_CONVERSATION_NOT_ONGOING'])
})

test('what mails say needs the permission to read conversations, and a ticket that to write for the team', async () => {
  const refused = async (scopes: Scope[], method: 'GET' | 'POST', path: string) => {
    const narrow = await service.account({ scopes })
    const { status, body } = await narrow.request(method, `/agents/${box.agentId}/email/silent${path}`)
    return [status, body.error.code]
  }
  const lacking = [403, 'AUTH_INSUFFICIENT_PERMISSIONS']
  assert.deepEqual(await refused(['messaging:read'], 'GET', ''), lacking)
  assert.deepEqual(await refused(['messaging:write'], 'POST', '/x/ticket'), lacking)
  assert.deepEqual(await refused(['conversations:read'], 'GET', ''), [404, 'AGENT_NOT_FOUND'])
  assert.deepEqual(await refused(['helpdesk:write'], 'POST', '/x/ticket'), [404, 'AGENT_NOT_FOUND'])
})
