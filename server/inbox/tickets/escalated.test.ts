import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { type Desk, openDesk } from '../../../test/open-desk.ts'
import { type Service, startService } from '../../../test/start.ts'
import { addConversation } from '../../actions/definitions/for-tests.ts'
import { setFirstStatus } from '../../conversations/records/set-status.ts'
import { newId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { escalation } from '../../reactions.ts'
import { linkTicket } from './ticket-queries.ts'

let service: Service
let desk: Desk
before(async () => {
  service = await startService()
  desk = await openDesk(service)
})
after(() => service.close())

const conversation = () => addConversation(service.ctx, desk.agentId)
const takeOver = (id: string, name: string) =>
  desk.client.request('POST', `/agents/${desk.agentId}/conversations/${id}/takeover`, {
    memberId: desk.members[name],
  })

async function isEscalated(id: string): Promise<boolean> {
  const row = await service.ctx.db
    .selectFrom('conversations')
    .select('escalated')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return row.escalated
}

test('a ticket that a former program adds escalates its conversation', async () => {
  const id = await conversation()
  const { accountId, agentId } = desk.owner
  const customer = json({ id: null, name: null, email: null, phoneNumber: null })
  await service.ctx.db
    .insertInto('tickets')
    .values({
      id: newId(),
      account_id: accountId,
      agent_id: agentId,
      number: 1,
      status_category: 'new',
      customer,
      metadata: json({}),
      channel: 'api',
      conversation_id: id,
    })
    .execute()
  assert.equal(await isEscalated(id), true)
})

test('no trigger is needed', async (t) => {
  const { db } = service.ctx
  await sql`drop trigger conversation_taken_over on conversations`.execute(db)
  await sql`drop trigger conversation_has_ticket on tickets`.execute(db)

  await t.test('a takeover, which a hand-back does not undo', async () => {
    const id = await conversation()
    assert.equal(await isEscalated(id), false)
    assert.equal((await takeOver(id, 'ann')).status, 200)
    await desk.client.request('POST', `/agents/${desk.agentId}/conversations/${id}/handback`)
    assert.equal(await isEscalated(id), true)
  })

  await t.test('a ticket that is opened for it, even one that is closed', async () => {
    const [open, closed] = [await conversation(), await conversation()]
    await desk.open({ conversationId: open })
    await desk.open({ conversationId: closed, status: 'closed' })
    assert.deepEqual([await isEscalated(open), await isEscalated(closed)], [true, true])
  })

  await t.test('a ticket that is linked to it, and one that was', async () => {
    const [first, second] = [await conversation(), await conversation()]
    const { ticketNumber } = await desk.open({ conversationId: first })
    const moved = await desk.call('PATCH', `/tickets/${ticketNumber}`, { conversationId: second })
    assert.equal(moved.status, 200, JSON.stringify(moved.body))
    assert.deepEqual([await isEscalated(first), await isEscalated(second)], [true, true])
  })

  await t.test('the first mail of a ticket', async () => {
    const [taken, ended] = [await conversation(), await conversation()]
    const { ticketNumber } = await desk.open()
    const account_id = desk.owner.accountId
    await transact(db, async (trx) => {
      const { id } = await trx
        .selectFrom('tickets')
        .select('id')
        .where('account_id', '=', account_id)
        .where('number', '=', ticketNumber)
        .executeTakeFirstOrThrow()
      await setFirstStatus(trx, { id: taken, account_id }, 'taken_over')
      await setFirstStatus(trx, { id: ended, account_id }, 'ended')
      await linkTicket(trx, { id, account_id }, ended)
    })
    assert.deepEqual([await isEscalated(taken), await isEscalated(ended)], [true, true])
  })

  await t.test('people and the agent escalate the same conversations at once', async () => {
    const { openTicket } = escalation(service.ctx.notifier)
    const ids = await Promise.all(Array.from({ length: 8 }, conversation))
    await Promise.all(
      ids.flatMap((id) => [
        takeOver(id, 'ann'),
        takeOver(id, 'bob'),
        transact(db, (trx) =>
          openTicket(trx, {
            ...desk.owner,
            conversationId: id,
            subject: null,
            description: null,
            customer: { id: null, name: null, email: null, phoneNumber: null },
            assigneeId: null,
          }),
        ),
      ]),
    )
    const { rows } = await sql<{ escalated: boolean; tickets: number }>`
      select escalated, (select count(*)::int from tickets where conversation_id = conversations.id) as tickets
      from conversations where id = any(${ids}::uuid[])`.execute(db)
    assert.deepEqual(
      rows,
      ids.map(() => ({ escalated: true, tickets: 1 })),
    )
  })
})
