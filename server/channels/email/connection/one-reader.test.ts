import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type FakeImapServer, startFakeImapServer } from '../../../../test/fakes/imap-server.ts'
import { type MailServer, startMailServer } from '../../../../test/fakes/mail-server.ts'
import { connectTestMailbox, mail, readMailboxes } from '../../../../test/mailbox.ts'
import { type Client, type Service, startService } from '../../../../test/start.ts'

let service: Service
let smtp: MailServer
let imap: FakeImapServer

before(async () => {
  smtp = await startMailServer()
  imap = await startFakeImapServer()
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' }, undefined, { idle: true })
})
after(async () => {
  await service.close()
  await imap.close()
  await smtp.close()
})

const server = (username: string) => ({
  host: '127.0.0.1',
  port: imap.port,
  security: 'none',
  username,
  password: 'secret',
})
async function connected(username = 'Someone') {
  const client = await service.account()
  const box = await connectTestMailbox(service, client, { smtpPort: smtp.port, imap: server(username) })
  return { client, ...box }
}
type Box = Awaited<ReturnType<typeof connected>>
const problem = async ({ client, agentId }: { client: Client; agentId: string }) =>
  (await client.request('GET', `/agents/${agentId}/email/connection`)).body.imap.lastError
const tested = async ({ client, agentId }: Box) =>
  (await client.request('POST', `/agents/${agentId}/email/connection/test`)).body.imap.error
const count = async (box: Box) => (await box.inbound()).length
const OTHER = /^Another agent already reads this mailbox/

test('a mailbox has one reader in all accounts, and only who knows its password learns of another', async () => {
  const first = await connected()
  await readMailboxes(service)
  const second = await connected('someone')
  // Connecting it proves nothing, so it says nothing.
  imap.troubles.set('LOGIN', 'refuse')
  assert.match(await tested(second), /refused|not now/)
  imap.troubles.clear()
  assert.match(await tested(second), OTHER)
  assert.equal(await tested(first), null)
  imap.mails.push(mail('How long is the warranty?'))
  await readMailboxes(service)
  assert.deepEqual([await count(first), await count(second)], [1, 0])
  assert.match(await problem(second), OTHER)
  assert.equal(await problem(first), null)
  // Whoever cannot read it any more does not keep it from the others.
  await first.client.request('DELETE', `/agents/${first.agentId}/email/connection`)
  imap.mails.push(mail('Do you ship to Austria?'))
  await readMailboxes(service)
  assert.equal(await problem(second), null)
  assert.ok((await count(second)) > 0)
})

test('a mailbox that one agent fails to read is free for another, and is not taken back', async () => {
  const first = await connected('shared')
  await readMailboxes(service)
  const second = await connected('shared')
  await service.ctx.db
    .updateTable('email_connections')
    .set({ read_failures: 5 })
    .where('agent_id', '=', first.agentId)
    .execute()
  assert.equal(await tested(second), null)
  await readMailboxes(service)
  assert.equal(await problem(second), null)
  assert.match(await problem(first), OTHER)
  const put = { address: 'support@shop.example', smtp: server('user'), imap: server('shared') }
  await first.client.request('PUT', `/agents/${first.agentId}/email/connection`, put)
  await readMailboxes(service)
  assert.match(await problem(first), OTHER)
  assert.equal(await problem(second), null)
})

test('an agent that reads its mailbox again after an outage keeps it, while it still reads', async () => {
  const first = await connected('outage')
  await readMailboxes(service)
  const second = await connected('outage')
  const { db } = service.ctx
  await db
    .updateTable('email_connections')
    .set({ read_failures: 5 })
    .where('agent_id', '=', first.agentId)
    .execute()
  assert.equal(await tested(first), null)
  assert.match((await tested(second)) ?? '', OTHER)
  imap.mails.push(mail('Is the shop open again?'))
  await readMailboxes(service)
  assert.deepEqual([(await count(first)) > 0, await count(second)], [true, 0])
})

test('of two agents that open a mailbox at the same moment, one reads it', async () => {
  const both = [await connected('at once'), await connected('at once')]
  const results = await Promise.all(both.map(tested))
  assert.equal(results.filter((error) => error === null).length, 1)
  assert.equal(results.filter((error) => OTHER.test(error ?? '')).length, 1)
})
