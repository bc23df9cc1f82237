import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onPostgres } from '../../../../test/database.ts'
import { startModelServer } from '../../../../test/fakes/model-server.ts'
import { startService } from '../../../../test/start.ts'
import { until, waitingForLock } from '../../../../test/until.ts'
import { publicAgent, visitorOf } from '../../../../test/visitor.ts'
import { requireAgent } from '../../../agents/records/find-agent.ts'
import { publishDeskEvent } from '../../../inbox/tickets/publish-desk-event.ts'
import { json } from '../../../platform/db/statements/json.ts'

test('a visitor asks for a person while a ticket is opened, without a deadlock', {
  skip: !onPostgres(),
}, async (t) => {
  const service = await startService({}, undefined, { idle: true })
  t.after(() => service.close())
  const { ctx } = service
  const client = await service.account()
  const ref = { accountId: client.accountId, agentId: await publicAgent(client) }
  const escalate = { name: 'escalate', type: 'escalate', description: 'x', enabled: true }
  assert.equal((await client.request('POST', `/agents/${ref.agentId}/actions`, escalate)).status, 201)
  const visitor = visitorOf(service, ref.agentId)
  const asking = await ctx.db.transaction().execute(async (trx) => {
    // Takes the locks in the order of createTicket.
    await requireAgent(trx, ref, 'update')
    const answer = visitor.request('POST', '/person', {})
    await waitingForLock(ctx.db, 'from "agents"')
    await publishDeskEvent(ctx, trx, ref, { type: 'ticket', data: { ticketNumber: 1 } })
    return { answer }
  })
  assert.equal((await asking.answer).status, 201)
})

test('who accepts an offer is handed over by the model of the agent, which has to call the action', async (t) => {
  const models = await startModelServer()
  const service = await startService(models.settings)
  t.after(async () => {
    await service.close()
    await models.close()
  })
  const client = await service.account()
  const agentId = await publicAgent(client)
  const action = { name: 'ask_team', type: 'escalate', description: 'x', enabled: true }
  assert.equal((await client.request('POST', `/agents/${agentId}/actions`, action)).status, 201)
  models.otherwise(() => ({ tokens: ['Somebody will answer.'] }))
  const visitor = visitorOf(service, agentId)
  const { conversationId } = await visitor.write('Who are you?')
  const settled = (count: number) =>
    until(`${count} messages`, async () => {
      const { answering, messages } = await visitor.read(conversationId)
      return !answering && messages.length === count ? messages : null
    })
  const [, answer] = await settled(2)
  const { db } = service.ctx
  const offer = (metadata: object) =>
    db
      .updateTable('messages')
      .set({ metadata: json(metadata) })
      .where('id', '=', answer.id)
      .execute()
  const input = { subject: 'A question', summary: 'About us' }
  const press = (accepts: string) => visitor.write('Talk to a person', { conversationId, accepts })
  // Only an offer can be accepted.
  await press(answer.id)
  await settled(4)
  await offer({ offer: 'person' })
  assert.equal((await visitor.read(conversationId)).messages[1].offer, 'person')
  models.queue.push({ toolCalls: [{ id: 'c1', name: 'ask_team', input }] })
  await Promise.all([press(answer.id), press(answer.id), press(answer.id)])
  await settled(6)
  const choices = models.requests.flatMap(({ body }) => (body as { tool_choice?: unknown }).tool_choice ?? [])
  const forced = { type: 'function', function: { name: 'ask_team' } }
  assert.deepEqual(choices, ['auto', 'auto', forced, 'auto'])
  const tickets = await db.selectFrom('tickets').select('subject').where('agent_id', '=', agentId).execute()
  assert.deepEqual(tickets, [{ subject: 'A question' }])
  // Another visitor cannot accept it.
  assert.equal(
    (
      await visitorOf(service, agentId).request('POST', '/messages', {
        messageId: '01a22484-6254-4519-b888-78b94b763529',
        message: 'Me',
        conversationId,
        accepts: answer.id,
      })
    ).status,
    404,
  )
})
