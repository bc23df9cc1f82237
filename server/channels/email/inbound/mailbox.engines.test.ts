import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type RawBuilder, sql } from 'kysely'
import { type ImapServer, startImapServer } from '../../../../test/imap-server.ts'
import { connectTestMailbox, mail, mailboxesAreDue, readMailboxes } from '../../../../test/mailbox.ts'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { claimMailbox, LostLease, noteRead, releaseMailbox } from '../connection/claim-mailbox.ts'
import { takeMail } from './take-mail.ts'

/** These tests run against Dovecot. They are skipped, with a message, where it is not installed. */
const server = await startImapServer()
const suite = typeof server === 'string' ? { skip: server } : {}
const imap = (): ImapServer => {
  if (typeof server === 'string') throw new Error(server)
  return server
}

let service: Service
let client: Client

before(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
})
after(async () => {
  await service.close()
  if (typeof server !== 'string') await server.close()
})

const login = (more: Record<string, unknown> = {}) => ({
  host: '127.0.0.1',
  port: imap().port,
  security: 'none',
  username: imap().username,
  password: imap().password,
  ...more,
})
async function connect(more: Record<string, unknown> = {}) {
  client = await service.account()
  // One mailbox is read at a time, so that each test sees only its own mails.
  await service.ctx.db.deleteFrom('email_connections').execute()
  return connectTestMailbox(service, client, { smtpPort: 1, mode: 'tickets', imap: login(more) })
}
const due = () => mailboxesAreDue(service)
const read = () => readMailboxes(service)
const textsOf = async (box: Awaited<ReturnType<typeof connect>>): Promise<string[]> =>
  (await box.inbound()).map(({ content }) => content.text)
const row = () => service.ctx.db.selectFrom('email_connections').selectAll().executeTakeFirstOrThrow()

test('new mails are read once and in order, and the mailbox is not modified', suite, async () => {
  imap().deliver(mail('Old', { Subject: '' }))
  const box = await connect()
  // The server gives the earlier mail the present time, so the reading begins later than that.
  await service.ctx.db
    .updateTable('email_connections')
    .set({ reads_from: sql<Date>`now() + interval '3 minutes'` })
    .execute()
  await read()
  assert.deepEqual(await textsOf(box), [])
  for (const text of ['One', 'Two', 'Three']) imap().deliver(mail(text, { Subject: '' }))
  await Promise.all([read(), read()])
  assert.deepEqual(await textsOf(box), ['One', 'Two', 'Three'])
  await read()
  assert.equal((await box.inbound()).length, 3)
  assert.ok(imap().files().length >= 4)
  assert.deepEqual(
    imap()
      .files()
      .filter((name) => /:2,.*S/.test(name)),
    [],
  )
  const { body } = await client.request('GET', `/agents/${box.agentId}/email/connection`)
  assert.deepEqual([body.imap.lastError, typeof body.imap.lastCheckedAt], [null, 'string'])
})

test('a recreated mailbox is read again, and no mail is processed twice', suite, async () => {
  const box = await connect()
  await read()
  imap().deliver(mail('Before', { Subject: '' }))
  await read()
  const before = await box.inbound()
  imap().remake()
  imap().deliver(mail('After', { Subject: '' }))
  await read()
  const texts = await textsOf(box)
  assert.equal(texts.length, before.length + 1)
  assert.equal(texts.at(-1), 'After')
})

test('a mailbox is read although the clock of the database was set back', suite, async () => {
  const box = await connect()
  await read()
  const { db } = service.ctx
  const change = (times: { next_read_at?: RawBuilder<Date>; lease_until?: RawBuilder<Date> }) =>
    db.updateTable('email_connections').set(times).where('agent_id', '=', box.agentId).execute()
  const inAnHour = sql<Date>`now() + interval '1 hour'`
  await db
    .updateTable('email_connections')
    .set({ next_read_at: sql<Date>`now() + interval '1 minute'` })
    .execute()
  assert.equal(await claimMailbox(db), null)
  await change({ next_read_at: inAnHour })
  assert.equal((await claimMailbox(db))?.agent_id, box.agentId)
  assert.equal(await claimMailbox(db), null)
  await change({ lease_until: inAnHour })
  const claimed = await claimMailbox(db)
  assert.equal(claimed?.agent_id, box.agentId)
  await releaseMailbox(db, claimed!, { error: null, more: true })
})

test('a process that dies between two mails neither loses nor duplicates any', suite, async () => {
  const box = await connect()
  await read()
  for (const text of ['A', 'B']) imap().deliver(mail(text, { Subject: '' }))
  await due()
  const claimed = await claimMailbox(service.ctx.db)
  assert.ok(claimed)
  // The last thing it does is a mail whose transaction does not commit.
  const lost = takeMail(
    service.ctx,
    claimed,
    { raw: Buffer.from(mail('A', { Subject: '' })), receivedAt: new Date() },
    async (trx) => {
      await noteRead(trx, claimed, { uidValidity: BigInt(claimed.uid_validity ?? 0), lastUid: 1_000_000 })
      throw new Error('died')
    },
  )
  await assert.rejects(lost, /died/)
  const before = (await textsOf(box)).length
  // Nobody else reads the mailbox until its lease has expired.
  await read()
  assert.equal((await textsOf(box)).length, before)
  await service.ctx.db
    .updateTable('email_connections')
    .set({ lease_until: new Date(0) })
    .execute()
  await read()
  assert.deepEqual((await textsOf(box)).slice(before), ['A', 'B'])
  // If it continues after all, it has lost the mailbox.
  const late = noteRead(service.ctx.db, claimed, { uidValidity: 1n, lastUid: 1 })
  await assert.rejects(late, LostLease)
  await releaseMailbox(service.ctx.db, claimed, { error: 'late', more: false })
  assert.equal((await row()).imap_error, null)
})

test('a rejected login is reported and retried with increasing delays', suite, async () => {
  const box = await connect({ password: 'wrong' })
  const path = `/agents/${box.agentId}/email/connection`
  const tried = await client.request('POST', `${path}/test`)
  assert.match(tried.body.imap.error, /^127\.0\.0\.1 refused the user name or the password/)
  await read()
  const waits: number[] = []
  for (let tries = 0; tries < 2; tries++) {
    const { next_read_at, imap_checked_at, read_failures } = await row()
    waits.push(Math.round((next_read_at.getTime() - (imap_checked_at?.getTime() ?? 0)) / 20_000))
    assert.equal(read_failures, tries + 1)
    if (tries === 0) await read()
  }
  assert.deepEqual(waits, [2, 4])
  assert.match((await client.request('GET', path)).body.imap.lastError, /refused the user name/)
})

test('a missing mailbox is reported', suite, async () => {
  const box = await connect({ mailbox: 'Nowhere' })
  const tried = await client.request('POST', `/agents/${box.agentId}/email/connection/test`)
  assert.equal(tried.body.imap.ok, false)
  assert.match(tried.body.imap.error, /^The mailbox Nowhere cannot be opened/)
})
