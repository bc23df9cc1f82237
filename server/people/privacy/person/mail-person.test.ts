import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { erased } from '../../../../test/full-life.ts'
import { connectTestMailbox, mail } from '../../../../test/mailbox.ts'
import { rowsNaming } from '../../../../test/rows-naming.ts'
import { type Answer, type Client, type Service, startService } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'
import { newId } from '../../../platform/db/ids.ts'
import { threadIds } from './person-rows.ts'

const ADDRESS = 'markerzq@example.com'

let service: Service

before(async () => {
  service = await startService()
})
after(() => service.close())

/** What happens to the contact before the person is erased. */
const CHANGES: [string, (client: Client, contacts: string, id: string) => Promise<Answer>][] = [
  ['deleted', (client, contacts, id) => client.request('DELETE', `${contacts}/${id}`)],
  [
    'given another address',
    (client, contacts, id) =>
      client.request('PATCH', `${contacts}/${id}`, { name: 'B', email: 'b@b.example' }),
  ],
  [
    'merged into another one',
    async (client, contacts, id) => {
      const { body: other } = await client.request('POST', contacts, {
        name: 'Other',
        email: 'o@example.com',
      })
      return client.request('POST', `${contacts}/${id}/merge`, { intoContactId: other.id })
    },
  ],
]
for (const [what, change] of CHANGES) {
  test(`a mail is found by its address although its contact was ${what}`, async () => {
    const client = await service.account()
    const box = await connectTestMailbox(service, client, { smtpPort: 1 })
    await box.receive(mail('Where is my order?', { From: `Ann Markerzq <${ADDRESS}>` }))
    await box.receive(mail('And mine?', { From: 'bob@example.com' }))
    await until('both', async () => (await box.said()).filter((text) => text.startsWith('user')).length === 2)
    await service.ctx.generations.idle()
    const contact = await service.ctx.db
      .selectFrom('contacts')
      .select('id')
      .where('agent_id', '=', box.agentId)
      .where('email', '=', ADDRESS)
      .executeTakeFirstOrThrow()
    const changed = await change(client, `/agents/${box.agentId}/contacts`, contact.id)
    assert.equal(changed.status, 200, JSON.stringify(changed.body))
    const exported = await client.request('POST', '/users/export', { email: ADDRESS })
    assert.match(exported.body, /Where is my order\?/)
    const { counts } = await erased(client, { email: ADDRESS.toUpperCase() })
    assert.equal(counts.conversations, 1)
    assert.deepEqual(await rowsNaming(service.ctx.db, client.accountId, 'markerzq'), [])
    assert.deepEqual(
      (await box.threads()).map(({ data }) => (data.to as { address: string }).address),
      ['bob@example.com'],
    )
  })
}

test('the threads of a person are found without scanning those of everybody', async () => {
  const client = await service.account()
  const { accountId } = client
  const { db } = service.ctx
  const agentId = (await client.request('POST', '/agents', { name: 'Many' })).body.id
  await sql`
    insert into channel_threads (id, account_id, agent_id, channel, connection, peer, data)
    select gen_random_uuid(), ${accountId}, ${agentId}, 'email', 'a@shop.example', n::text,
      jsonb_build_object('to', jsonb_build_object('address', 'user' || n || '@example.com'))
    from generate_series(1, 5000) as n`.execute(db)
  await sql`analyze channel_threads`.execute(db)
  const person = { userIds: [], contactIds: [newId()], emails: ['user7@example.com'], phones: [] }
  const { rows } = await sql<{ 'QUERY PLAN': string }>`explain ${threadIds(accountId, person)}`.execute(db)
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  assert.doesNotMatch(plan, /Seq Scan/)
})
