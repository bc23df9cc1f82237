import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { freshDatabase } from '../../test/database.ts'
import { migrate } from '../db/migrate.ts'
import { CommandFailure, type Operations, type Result } from './command.ts'
import { commands } from './commands.ts'

let fresh: Awaited<ReturnType<typeof freshDatabase>>
let operations: Operations

before(async () => {
  fresh = await freshDatabase()
  await migrate(fresh.database.db)
  operations = {
    db: fresh.database.db,
    filesDir: 'unused',
    setMaintenance: async () => {},
    resume: async () => {},
    openKnowledge: () => ({ search: async () => ({ passages: [], confidence: 0 }) }),
    erasing: { jobs: { enqueue: async () => {} }, stop: async () => {} },
  }
})
after(async () => {
  await fresh.database.close()
  await fresh.drop()
})

function run(name: string, values: Record<string, string> = {}, ...positionals: string[]): Promise<Result> {
  const command = commands.find((one) => one.name === name)
  assert.ok(command, name)
  return command.run(operations, { values, positionals })
}

test('what an operator changes is in the audit log, with the account it concerns', async () => {
  const { id } = await run('account create', { name: 'A' })
  const account = String(id)
  await run('account plan', {}, account, 'pro')
  await run('account idle', {}, account, '72')
  await run('account idle', {}, account, 'default')
  const key = await run('keys create', { account, name: 'k' })
  await run('keys revoke', {}, String(key.id))
  await run('keys revoke', {}, String(key.id))
  await run('credits grant', { account, amount: '5' })
  await run('maintenance on')
  await run('credits show', { account })
  const rows = await operations.db.selectFrom('audit_log').selectAll().orderBy('id').execute()
  assert.deepEqual(
    rows.map(({ actor, action, account_id, target }) => [actor, action, account_id, target]),
    [
      ['operator', 'account.create', account, account],
      ['operator', 'account.plan', account, 'pro'],
      ['operator', 'account.idle', account, '72'],
      ['operator', 'account.idle', account, 'default'],
      ['operator', 'key.create', account, key.id],
      ['operator', 'key.revoke', account, key.id],
      ['operator', 'key.revoke', account, key.id],
      ['operator', 'credits.grant', account, '5'],
      ['operator', 'maintenance', null, 'on'],
    ],
  )
})

test('expiry is read as UTC, and a day that does not exist is refused', async () => {
  const { id } = await run('account create', { name: 'B' })
  const account = String(id)
  const key = await run('keys create', { account, name: 'k', expires: '2027-01-31T12:00:00' })
  const row = await operations.db
    .selectFrom('api_keys')
    .select('expires_at')
    .where('id', '=', String(key.id))
    .executeTakeFirstOrThrow()
  assert.equal(row.expires_at?.toISOString(), '2027-01-31T12:00:00.000Z')
  for (const expires of ['2026-02-30', 'tomorrow', '2027-01-31 garbage', ''])
    await assert.rejects(run('keys create', { account, name: 'k', expires }), { exitCode: 64 })
})

test('the idle limit of an account is set, shown and taken back', async () => {
  const account = String((await run('account create', { name: 'C' })).id)
  const shown = async () => {
    const accounts = (await run('account list')).accounts as { id: string; idleHours: number | null }[]
    return accounts.find(({ id }) => id === account)?.idleHours
  }
  assert.equal(await shown(), null)
  assert.deepEqual(await run('account idle', {}, account, '8760'), { id: account, idleHours: 8760 })
  for (const hours of ['0', '8761', '1.5', '-1', 'long', ''])
    await assert.rejects(run('account idle', {}, account, hours), { exitCode: 64 }, hours)
  await assert.rejects(run('account idle', {}, 'x', '5'), { exitCode: 1 })
  assert.equal(await shown(), 8760)
  await run('account idle', {}, account, 'default')
  assert.equal(await shown(), null)
})

test('a refused command has changed nothing', async () => {
  const before = await operations.db.selectFrom('audit_log').select('id').execute()
  await assert.rejects(run('account create', { name: ' ' }), { exitCode: 64 })
  await assert.rejects(run('account create', { name: 'x', plan: 'gold' }), /free, hobby, standard, pro/)
  await assert.rejects(run('keys revoke', {}, 'x'), CommandFailure)
  await assert.rejects(run('keys revoke', {}, '01900000-0000-7000-8000-000000000000'), { exitCode: 1 })
  for (const amount of ['0', '-1', '1.5', 'many', '1000000001'])
    await assert.rejects(run('credits grant', { account: 'x', amount }), { exitCode: 64 })
  assert.deepEqual(await operations.db.selectFrom('audit_log').select('id').execute(), before)
})

test('every command prints its result as text', () => {
  for (const { name, summary, print } of commands) {
    assert.ok(summary)
    assert.equal(typeof print({ accounts: [], id: 'x' }), 'string', name)
  }
})
