import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { startMailServer } from '../../../../test/fakes/mail-server.ts'
import { connectTestMailbox, mail } from '../../../../test/mailbox.ts'
import { type Service, startService } from '../../../../test/start.ts'
import { until, waitingForLock } from '../../../../test/until.ts'
import { createMember } from '../../../accounts/records/members.ts'
import { enqueueDelivery } from '../../../inbox/deliveries/enqueue-delivery.ts'

let service: Service
before(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
})
after(() => service.close())

test('a ticket waits for the team again when its reply cannot be delivered', async () => {
  const server = await startMailServer()
  const client = await service.account()
  const box = await connectTestMailbox(service, client, { smtpPort: server.port })
  const { accountId } = client
  await createMember(
    service.ctx.db,
    { id: accountId, plan: 'pro' },
    { email: 'ann@example.com', name: 'Ann' },
  )
  const desk = `/agents/${box.agentId}/helpdesk/tickets`
  const customer = { email: 'eve@example.org', name: 'Eve' }
  const ticket = { subject: 'Kettle', description: 'It leaks.', customer }
  assert.equal((await client.request('POST', desk, ticket)).status, 201)
  const reply = async (content: string) => {
    const said = { type: 'reply', content, authorEmail: 'ann@example.com' }
    assert.equal((await client.request('POST', `${desk}/1/messages`, said)).status, 201)
    return (await client.request('GET', `${desk}/1`)).body.statusCategory
  }
  server.troubles.push({ code: 550, text: '5.1.1 no such user' })
  assert.equal(await reply('A new one is on its way.'), 'on_customer')
  await box.send()
  assert.deepEqual(
    (await box.deliveries()).map(({ status }) => status),
    ['failed'],
  )
  assert.equal((await client.request('GET', `${desk}/1`)).body.statusCategory, 'on_you')
  assert.equal(await reply('It was sent today.'), 'on_customer')
  await box.send()
  assert.equal((await client.request('GET', `${desk}/1`)).body.statusCategory, 'on_customer')
  await server.close()
})

test('a mail for the team and a reply that ends at the same time do not block each other', async (t) => {
  if (service.databaseUrl === null) return t.skip('The embedded database has one connection.')
  const client = await service.account()
  const box = await connectTestMailbox(service, client, { smtpPort: 1, mode: 'tickets' })
  await box.receive(mail('First', { 'Message-ID': '<first@example.com>' }))
  const [conversation] = await until('the ticket', async () => {
    const all = await box.conversations()
    return all.length > 0 && all
  })
  assert.ok(conversation)
  const { db } = service.ctx
  const { id, account_id, agent_id, thread_id } = conversation
  const { receiving } = await db.transaction().execute(async (trx) => {
    // Takes the locks in the order of a reply that ends: first the conversation, then the thread.
    await sql`select from conversations where id = ${id} for no key update`.execute(trx)
    const receiving = box.post(mail('Second', { 'In-Reply-To': '<first@example.com>' }))
    await waitingForLock(db, 'from "conversations"')
    // Less than the time after which PostgreSQL resolves a deadlock.
    await sql`set local lock_timeout = '300ms'`.execute(trx)
    await enqueueDelivery(trx, {
      accountId: account_id,
      agentId: agent_id,
      channel: 'email',
      threadId: thread_id,
      conversationId: id,
      ticketId: null,
      messageId: null,
      ticketMessageId: null,
      content: { text: 'An answer' },
    })
    return { receiving }
  })
  assert.equal((await receiving).status, 200)
  assert.deepEqual(
    [(await box.inbound()).length, (await box.deliveries()).length, (await box.threads()).length],
    [2, 1, 1],
  )
})
