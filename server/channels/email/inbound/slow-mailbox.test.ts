import assert from 'node:assert/strict'
import { type AddressInfo, createServer } from 'node:net'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { type FakeImapServer, startFakeImapServer } from '../../../../test/fakes/imap-server.ts'
import { connectTestMailbox, mail, mailboxesAreDue, readMailboxes } from '../../../../test/mailbox.ts'
import { type Service, startService } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'
import { claimMailbox } from '../connection/claim-mailbox.ts'
import { tryServers } from '../connection/try-servers.ts'
import { createMailReader } from '../parse/mail-reader.ts'

let service: Service
let server: FakeImapServer

before(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
})
after(() => service.close())
beforeEach(async () => {
  server = await startFakeImapServer()
})
afterEach(async () => {
  await server.close()
  await service.ctx.db.deleteFrom('email_connections').execute()
})

async function connect({ port }: FakeImapServer) {
  const client = await service.account()
  const imap = { host: '127.0.0.1', port, security: 'none', username: 'someone', password: 'secret' }
  const box = await connectTestMailbox(service, client, { smtpPort: 1, mode: 'tickets', imap })
  return {
    ...box,
    row: () =>
      service.ctx.db
        .selectFrom('email_connections')
        .selectAll()
        .where('agent_id', '=', box.agentId)
        .executeTakeFirstOrThrow(),
    texts: async () => (await box.inbound()).map(({ content }) => content.text),
  }
}
const read = () => readMailboxes(service)

test('a server that only sends keep-alives is given up after the limit, and the account is told', async () => {
  server.troubles.set('LOGIN', 'stall')
  const box = await connect(server)
  const reader = createMailReader(service.ctx, { maxMs: 200 })
  await reader.tick()
  await reader.idle()
  const { imap_error, lease_id, read_failures } = await box.row()
  assert.deepEqual([lease_id, read_failures], [null, 1])
  assert.match(imap_error ?? '', /^127\.0\.0\.1 was too slow: it was given up after 1 seconds?\.$/)
})

test('testing a connection gives up on both servers and reports each', async () => {
  server.troubles.set('LOGIN', 'stall')
  const box = await connect(server)
  const silent = createServer()
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  try {
    const row = await box.row()
    const { port } = silent.address() as AddressInfo
    const slow = { ...row, smtp: { ...row.smtp, port } }
    assert.deepEqual(await tryServers(service.ctx, slow, { maxMs: 200 }), {
      smtp: '127.0.0.1 did not answer in time.',
      imap: '127.0.0.1 was too slow: it was given up after 1 seconds.',
    })
    const { smtp_error, imap_error } = await box.row()
    assert.deepEqual([smtp_error !== null, imap_error !== null], [true, true])
  } finally {
    await new Promise((resolve) => silent.close(resolve))
  }
})

for (const command of ['LOGIN', 'LIST', 'EXAMINE', 'UID SEARCH', 'UID FETCH', 'BODY']) {
  test(`a process that ends does not wait for ${command}, and leaves the mailbox to others`, async () => {
    server.troubles.set(command, 'stall')
    server.mails.push(mail('One', { Subject: '' }))
    const box = await connect(server)
    const reader = createMailReader(service.ctx)
    await reader.tick()
    await server.saw(command)
    await reader.close()
    const { imap_error, lease_id, read_failures, last_uid } = await box.row()
    assert.deepEqual([imap_error, lease_id, read_failures, last_uid], [null, null, 0, null])
    server.troubles.clear()
    await read()
    assert.deepEqual(await box.texts(), ['One'])
  })
}

test('a mail that cannot be fetched is given to the team after some tries, and the next one is read', async () => {
  for (const text of ['One', 'Two']) server.mails.push(mail(text, { Subject: `About ${text}` }))
  server.stalls.add(1)
  const box = await connect(server)
  const look = async () => {
    await mailboxesAreDue(service)
    const reader = createMailReader(service.ctx, { maxMs: 300, maxWaiting: 0 })
    await reader.tick()
    await reader.idle()
  }
  await until('the second mail', async () => {
    await look()
    return (await box.inbound()).length === 2
  })
  const [first, second] = await box.texts()
  assert.match(first ?? '', /^About One\n\n\[This mail could not be fetched/)
  assert.equal(second, 'About Two\n\nTwo')
  const tickets = await service.ctx.db
    .selectFrom('tickets')
    .select('subject')
    .where('agent_id', '=', box.agentId)
    .execute()
  assert.deepEqual(tickets.map(({ subject }) => subject).sort(), ['About One', 'About Two'])
  assert.equal((await box.row()).imap_error, null)
})

test('a mailbox counts as read even if the server does not close the connection', async () => {
  server.troubles.set('LOGOUT', 'stall')
  server.mails.push(mail('One', { Subject: '' }))
  const box = await connect(server)
  const reader = createMailReader(service.ctx)
  await reader.tick()
  await server.saw('LOGOUT')
  await reader.close()
  const { imap_error, lease_id, last_uid } = await box.row()
  assert.deepEqual([imap_error, lease_id, Number(last_uid)], [null, null, 1])
  assert.deepEqual(await box.texts(), ['One'])
})

test('other mailboxes are read while a server stalls', async () => {
  server.troubles.set('LOGIN', 'stall')
  await connect(server)
  const reader = createMailReader(service.ctx)
  await reader.tick()
  await server.saw('LOGIN')
  const healthy = await startFakeImapServer()
  healthy.mails.push(mail('Hello', { Subject: '' }))
  const box = await connect(healthy)
  await reader.tick()
  await until('the mail', async () => (await box.texts()).length === 1)
  await reader.close()
  await healthy.close()
})

test('a connection that ends between two mails skips none', async () => {
  for (const text of ['One', 'Two']) server.mails.push(mail(text, { Subject: '' }))
  server.troubles.set('BODY', 'cut')
  const box = await connect(server)
  await read()
  assert.deepEqual(await box.texts(), ['One'])
  server.troubles.clear()
  await read()
  assert.deepEqual(await box.texts(), ['One', 'Two'])
})

test('a rejected search skips nothing', async () => {
  const box = await connect(server)
  await read()
  server.mails.push(mail('One', { Subject: '' }))
  server.troubles.set('UID SEARCH', 'refuse')
  await read()
  assert.match((await box.row()).imap_error ?? '', /could not be searched/)
  server.troubles.clear()
  await read()
  assert.deepEqual(await box.texts(), ['One'])
})

test('unresponsive mailboxes of one account leave places to others', async () => {
  const client = await service.account()
  const imap = {
    host: '127.0.0.1',
    port: server.port,
    security: 'none',
    password: 'secret',
  }
  const mine: string[] = []
  for (let i = 0; i < 4; i++)
    mine.push(
      (
        await connectTestMailbox(service, client, {
          smtpPort: 1,
          mode: 'tickets',
          imap: { ...imap, username: `user-${i}` },
        })
      ).agentId,
    )
  await service.ctx.db
    .updateTable('email_connections')
    .set({ next_read_at: new Date(0) })
    .execute()
  const other = await connect(server)
  const claimed: string[] = []
  for (let row = await claimMailbox(service.ctx.db); row; row = await claimMailbox(service.ctx.db))
    claimed.push(row.agent_id)
  assert.equal(claimed.filter((id) => mine.includes(id)).length, 2)
  assert.deepEqual(claimed.slice(2), [other.agentId])
})
