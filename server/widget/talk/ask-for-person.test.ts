import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onPostgres } from '../../../test/database.ts'
import { startService } from '../../../test/start.ts'
import { waitingForLock } from '../../../test/until.ts'
import { publicAgent, visitorOf } from '../../../test/visitor.ts'
import { requireAgent } from '../../agents/records/find-agent.ts'
import { tellDesk } from '../../helpdesk/tickets/tell-desk.ts'

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
    await tellDesk(ctx, trx, ref, { type: 'ticket', data: { ticketNumber: 1 } })
    return { answer }
  })
  assert.equal((await asking.answer).status, 201)
})
