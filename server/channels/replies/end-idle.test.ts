import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openDesk, write } from '../../../test/open-desk.ts'
import { type Service, startService } from '../../../test/start.ts'
import { setIdleHours } from '../../accounts/records/accounts.ts'
import { endIdle } from './end-idle.ts'

let service: Service

before(async () => {
  service = await startService()
})
after(() => service.close())

const HOUR = 3_600_000

/** Returns the statuses of conversations that were idle for the given times, after the idle ones have been ended. */
async function statusesAfter(conversations: Record<string, number>): Promise<string[]> {
  const { db } = service.ctx
  for (const [id, hours] of Object.entries(conversations)) {
    const then = new Date(Date.now() - hours * HOUR)
    await db.updateTable('conversations').set({ updated_at: then }).where('id', '=', id).execute()
  }
  await endIdle(db)
  const ids = Object.keys(conversations)
  const rows = await db.selectFrom('conversations').select(['id', 'status']).where('id', 'in', ids).execute()
  const statusOf = new Map(rows.map(({ id, status }) => [id, status]))
  return ids.map((id) => statusOf.get(id) ?? 'gone')
}

test('a conversation of a channel ends after 24 hours, or after the limit of its account', async () => {
  const usual = await openDesk(service)
  const patient = await openDesk(service)
  const hasty = await openDesk(service)
  await setIdleHours(service.ctx.db, patient.client.accountId, 72)
  await setIdleHours(service.ctx.db, hasty.client.accountId, 1)
  const idle: [typeof usual, number, string][] = [
    [usual, 23.9, 'ongoing'],
    [usual, 24.1, 'ended'],
    [patient, 71.9, 'ongoing'],
    [patient, 72.1, 'ended'],
    [hasty, 0.9, 'ongoing'],
    [hasty, 1.1, 'ended'],
  ]
  const conversations: Record<string, number> = {}
  for (const [at, [desk, hours]] of idle.entries()) {
    conversations[await write(service, desk, 'Hello', `+1202555030${at}`)] = hours
  }
  assert.deepEqual(
    await statusesAfter(conversations),
    idle.map(([, , status]) => status),
  )
  await setIdleHours(service.ctx.db, patient.client.accountId, null)
  const late = await write(service, patient, 'Hello', '+12025550310')
  assert.deepEqual(await statusesAfter({ [late]: 25 }), ['ended'])
})

test('a conversation of the API never ends by idling, even after mails are added to it', async () => {
  const desk = await openDesk(service)
  const onChannel = await write(service, desk, 'Hello')
  const { db } = service.ctx
  const { thread_id } = await db
    .selectFrom('conversations')
    .select('thread_id')
    .where('id', '=', onChannel)
    .executeTakeFirstOrThrow()
  await db.updateTable('conversations').set({ status: 'ended' }).where('id', '=', onChannel).execute()
  const said = await desk.client.request('POST', `/agents/${desk.agentId}/chat`, {
    message: 'Hello',
    stream: false,
  })
  const { conversationId } = said.body.data.metadata
  await db.updateTable('conversations').set({ thread_id }).where('id', '=', conversationId).execute()
  assert.deepEqual(await statusesAfter({ [conversationId]: 9_000 }), ['ongoing'])
})
