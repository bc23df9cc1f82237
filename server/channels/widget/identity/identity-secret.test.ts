import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onPostgres } from '../../../../test/database.ts'
import { startService } from '../../../../test/start.ts'
import { waitingForLock } from '../../../../test/until.ts'
import { publicAgent } from '../../../../test/visitor.ts'
import { createContacts } from '../../../people/records/write-contacts.ts'
import type { Trx } from '../../../platform/db/database.ts'
import { readIdentitySecret } from './identity-secret.ts'

for (const method of ['PUT', 'DELETE'])
  test(`${method}: visitors who are just signing in are signed out as well, without a deadlock`, {
    skip: !onPostgres(),
  }, async (t) => {
    const service = await startService({}, undefined, { idle: true })
    t.after(() => service.close())
    const { ctx } = service
    const client = await service.account()
    const ref = { accountId: client.accountId, agentId: await publicAgent(client) }
    const path = `/agents/${ref.agentId}/visitor-identity`
    await client.request('PUT', path)
    const [contact] = await createContacts(ctx.db, ref, [{ external_id: 'ada' }], () => '')
    const later = new Date(Date.now() + 60_000)
    const signIn = (trx: Trx, browser: string) =>
      trx
        .insertInto('visitor_identities')
        .values({
          agent_id: ref.agentId,
          account_id: ref.accountId,
          token_hash: browser,
          visitor_id: browser,
          contact_id: contact!.id,
          valid_until: later,
          token_until: later,
        })
        .onConflict((conflict) =>
          conflict.columns(['agent_id', 'token_hash']).doUpdateSet({ valid_until: later }),
        )
        .execute()
    await ctx.db.transaction().execute((trx) => signIn(trx, 'known'))
    const { change } = await ctx.db.transaction().execute(async (trx) => {
      await readIdentitySecret(ctx, trx, ref)
      const change = client.request(method, path)
      await waitingForLock(ctx.db, 'identity_secrets')
      await signIn(trx, 'known')
      await signIn(trx, 'new')
      return { change }
    })
    assert.equal((await change).status, 200)
    const left = await ctx.db.selectFrom('visitor_identities').select('visitor_id').execute()
    assert.deepEqual(left, [])
  })
