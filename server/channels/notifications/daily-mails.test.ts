import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type MailServer, startMailServer } from '../../../test/fakes/mail-server.ts'
import { connectTestMailbox } from '../../../test/mailbox.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { until } from '../../../test/until.ts'
import { newId } from '../../platform/db/ids.ts'
import { planDailyMails } from './daily-mails.ts'

let server: MailServer
let service: Service
let client: Client

before(async () => {
  server = await startMailServer()
  service = await startService({
    SMTP_URL: `smtp://user:secret@127.0.0.1:${server.port}/?security=none`,
    MAIL_FROM: 'parley@example.com',
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
  })
  client = await service.account()
})
after(async () => {
  await service.close()
  await server.close()
})

const tomorrow = new Date(Date.now() + 86_400_000)

test('the leads and conversations of a day are mailed once, by the mailbox or by the operator’s server', async () => {
  const settings = (email: string) => ({
    notificationsSettings: {
      dailyLeadsCollected: { active: true, emails: [email] },
      dailyConversations: { active: true, emails: [email] },
    },
  })
  const box = await connectTestMailbox(service, client, { smtpPort: server.port })
  const other = (await client.request('POST', '/agents', { name: 'Bare' })).body.id
  const silent = (await client.request('POST', '/agents', { name: 'Silent' })).body.id
  for (const [agentId, email] of [
    [box.agentId, 'owner@example.com'],
    [other, 'second@example.com'],
    [silent, 'third@example.com'],
  ] as const) {
    const { status } = await client.request('PUT', `/agents/${agentId}`, settings(email))
    assert.equal(status, 200)
  }
  const { db } = service.ctx
  const lead = { id: newId(), account_id: client.accountId, agent_id: box.agentId, conversation_id: null }
  await db
    .insertInto('leads')
    .values({ ...lead, name: 'Eve\nBcc: all', email: 'eve@example.org', phone: null })
    .execute()
  await client.request('POST', `/agents/${other}/chat`, { message: 'Do you sell lamps?', stream: false })

  const planned = await Promise.all([1, 2].map(() => planDailyMails(service.ctx, tomorrow)))
  assert.equal(planned[0]! + planned[1]!, 2)
  await until('both mails', () => server.mails.length === 2)
  const byOwner = (owner: string) => server.mails.find(({ to }) => to.includes(owner))
  assert.match(
    byOwner('owner@example.com')?.raw ?? '',
    /From: .*support@shop\.example[\s\S]*One lead of Shop/,
  )
  assert.match(byOwner('owner@example.com')?.raw ?? '', /- Eve Bcc: all, eve@example\.org/)
  assert.match(
    byOwner('second@example.com')?.raw ?? '',
    /From: .*parley@example\.com[\s\S]*One conversation with Bare/,
  )
  assert.equal(await planDailyMails(service.ctx, tomorrow), 0, 'the day is done')
  await client.request('PUT', `/agents/${other}`, { notificationsSettings: null })
  assert.equal(await planDailyMails(service.ctx, new Date(tomorrow.getTime() + 86_400_000)), 0)
})
