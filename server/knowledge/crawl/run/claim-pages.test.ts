import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onPostgres } from '../../../../test/database.ts'
import { startService } from '../../../../test/start.ts'
import { waitingForLock } from '../../../../test/until.ts'
import { websites } from '../../../../test/websites.ts'
import type { Trx } from '../../../platform/db/database.ts'
import { addPages } from '../pages/add-pages.ts'
import { claimPages, releaseClaims, renewClaims } from './claim-pages.ts'
import { openRun, step } from './crawl-run.ts'

const SITE = 'https://site.example'

test('claims are renewed and released while pages are stored, without a deadlock', {
  skip: !onPostgres(),
}, async (t) => {
  const service = await startService({}, undefined, { idle: true })
  t.after(() => service.close())
  const { db } = service.ctx
  const client = await service.account()
  const { body: agent } = await client.request('POST', '/agents', { name: 'Agent' })
  const sourceId = await websites(service, client, agent.id).add(SITE)
  const { crawl } = await db
    .selectFrom('sources')
    .select('crawl')
    .where('id', '=', sourceId)
    .executeTakeFirstOrThrow()
  const job = { sourceId, version: crawl!.version, chain: crawl!.chain }
  const run = await openRun(service.ctx, job, AbortSignal.timeout(60_000))
  assert.ok(run)
  await step(db, run, (trx, source) =>
    addPages(trx, run, source, [new URL(`${SITE}/first`), new URL(`${SITE}/second`)]),
  )
  const claim = await claimPages(db, run, 2, 0)
  assert.equal(claim?.pages.length, 2)
  const [first, second] = claim.pages.map(({ id }) => id)
  const touch = (trx: Trx, id: string) =>
    trx
      .updateTable('pages')
      .set({ title: 'Read' })
      .where('account_id', '=', client.accountId)
      .where('id', '=', id)
      .execute()
  for (const change of [renewClaims, releaseClaims]) {
    let changed: Promise<unknown> | undefined
    await step(db, run, async (trx) => {
      await touch(trx, second!)
      changed ??= change(db, run)
      await waitingForLock(db)
      await touch(trx, first!)
    })
    await changed
  }
  const held = await db.selectFrom('pages').select('id').where('holder', 'is not', null).execute()
  assert.deepEqual(held, [])
})
