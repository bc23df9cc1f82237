import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { type MessagingServer, startMessagingServer } from '../../../test/fakes/messaging-server.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { until } from '../../../test/until.ts'
import { MAX_UNDER_WAY } from '../../inbox/deliveries/claim-delivery.ts'
import { enqueueDelivery } from '../../inbox/deliveries/enqueue-delivery.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { placeOfRow } from '../../platform/secrets/sealed-columns.ts'
import { ensureThread } from '../inbound/receive-message.ts'
import { channels } from '../registry/channels.ts'
import { createSender } from './send-deliveries.ts'

/** Starts a server that accepts requests and never responds. */
const silent = createServer()
let fake: MessagingServer
let service: Service

before(async () => {
  fake = await startMessagingServer()
  fake.accounts.set('111', {
    token: 'token',
    numbers: [{ id: 'n-1', phone: '+1 555-000-1111', name: 'Shop' }],
    templates: [],
  })
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
})
after(async () => {
  await service.close()
  silent.closeAllConnections()
  silent.close()
  await fake.close()
})

/** Creates an agent that is connected to this server, with a known number. */
async function connected(baseUrl: string): Promise<{ client: Client; agentId: string }> {
  const client = await service.account()
  const agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  const seal = (text: string, column: string): string =>
    service.ctx.secrets.key.seal(text, placeOfRow('messaging_accounts', `${agentId}/111`, column))
  await service.ctx.db
    .insertInto('messaging_accounts')
    .values({
      agent_id: agentId,
      business_account_id: '111',
      account_id: client.accountId,
      access_token: seal('token', 'access_token'),
      app_secret: seal('secret', 'app_secret'),
      verify_token: seal('verify', 'verify_token'),
      base_url: baseUrl,
      position: 0,
      numbers: null,
    })
    .execute()
  return { client, agentId }
}

const queue = ({ client, agentId }: Awaited<ReturnType<typeof connected>>, peer: string): Promise<string> =>
  transact(service.ctx.db, async (trx) => {
    const accountId = client.accountId
    const place = { accountId, agentId, channel: 'messaging' as const, connection: 'n-1', peer }
    const threadId = await ensureThread(trx, { ...place, person: { phonenumber: peer } })
    await trx
      .updateTable('channel_threads')
      .set({ last_inbound_at: new Date() })
      .where('id', '=', threadId)
      .execute()
    return enqueueDelivery(trx, {
      accountId,
      agentId,
      channel: 'messaging',
      threadId,
      conversationId: null,
      ticketId: null,
      messageId: null,
      ticketMessageId: null,
      content: { text: 'Hi' },
    })
  })
const countOf = async (agentId: string, status: 'sending' | 'sent') => {
  const { n } = await service.ctx.db
    .selectFrom('deliveries')
    .select((eb) => eb.fn.countAll<string>().as('n'))
    .where('agent_id', '=', agentId)
    .where('status', '=', status)
    .executeTakeFirstOrThrow()
  return Number(n)
}

test('an account whose server never responds delays only its own deliveries', async () => {
  const stuck = await connected(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`)
  const fine = await connected(fake.url)
  for (let i = 0; i < 20; i++) await queue(stuck, `+1555010${4000 + i}`)
  for (let i = 0; i < 5; i++) await queue(fine, `+1555010${5000 + i}`)
  const sender = createSender(service.ctx, channels)
  // Several run at once, as when many attempts end together.
  await Promise.all([sender.tick(), sender.tick(), sender.tick()])
  await until('the deliveries', async () => (await countOf(fine.agentId, 'sent')) === 5)
  assert.equal(fake.sent.length, 5)
  assert.equal(await countOf(stuck.agentId, 'sending'), MAX_UNDER_WAY)
  await service.ctx.db.deleteFrom('deliveries').where('status', '=', 'queued').execute()
  silent.closeAllConnections()
  silent.on('request', ({ socket }) => socket.destroy())
  await sender.idle()
})
