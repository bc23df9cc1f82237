import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { type Service, startService } from '../../../test/start.ts'
import type { Task } from '../../platform/jobs/jobs.ts'
import { agentJobs, type RemoveFiles } from '../jobs.ts'

let service: Service

before(async () => {
  service = await startService()
})
after(() => service.close())

async function fileIn(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'hours.txt'), 'We open at nine.')
  return join(folder, 'hours.txt')
}

test('deleting an agent removes its files only, and records who did it', async () => {
  const { ctx } = service
  const owner = await service.account()
  const [kept, gone] = await Promise.all(
    ['Kept', 'Gone'].map(async (name) => (await owner.request('POST', '/agents', { name })).body.id),
  )
  const keptFile = await fileIn(join(ctx.filesDir, owner.accountId, kept, 'source'))
  const goneFile = await fileIn(join(ctx.filesDir, owner.accountId, gone, 'source'))

  const stranger = await service.account()
  assert.equal((await stranger.request('DELETE', `/agents/${gone}`)).status, 404)
  assert.equal((await owner.request('GET', `/agents/${gone}`)).status, 200)

  assert.deepEqual((await owner.request('DELETE', `/agents/${gone}`)).body, { success: true })
  const deadline = Date.now() + 20_000
  while (existsSync(goneFile) && Date.now() < deadline) await setTimeout(50)
  assert.equal(existsSync(goneFile), false)
  assert.equal(existsSync(keptFile), true)

  const key = (await owner.request('GET', '/me')).body.key.id
  const audit = await ctx.db
    .selectFrom('audit_log')
    .select(['actor', 'action', 'target'])
    .where('account_id', '=', owner.accountId)
    .where('target', '=', gone)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  assert.deepEqual(audit, [
    { actor: `key:${key}`, action: 'agent.create', target: gone },
    { actor: `key:${key}`, action: 'agent.delete', target: gone },
  ])
})

test('of concurrent deletions, one succeeds and is recorded', async () => {
  const { ctx } = service
  const owner = await service.account()
  const { id } = (await owner.request('POST', '/agents', { name: 'Agent' })).body
  const answers = await Promise.all(Array.from({ length: 5 }, () => owner.request('DELETE', `/agents/${id}`)))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404, 404, 404, 404])
  const deletions = await ctx.db
    .selectFrom('audit_log')
    .select('id')
    .where('target', '=', id)
    .where('action', '=', 'agent.delete')
    .execute()
  assert.equal(deletions.length, 1)
})

test('removing files stays within the files folder and may run twice', async () => {
  const root = await mkdtemp(join(tmpdir(), 'parley-files-'))
  try {
    const filesDir = join(root, 'files')
    const outside = await fileIn(join(root, 'files-of-others'))
    const inside = await fileIn(join(filesDir, 'account', 'agent'))
    const [task] = agentJobs({ filesDir }) as unknown as Task<RemoveFiles>[]
    const remove = (folder: string) =>
      task?.run({ folder }, { isLast: () => false, signal: new AbortController().signal })
    for (const folder of ['..', '../files-of-others', '', '.', '/', root, 'account/../..', 'account/..']) {
      await assert.rejects(async () => remove(folder), /names a file that is not its own/, folder)
    }
    assert.ok(existsSync(outside) && existsSync(inside))
    await remove('account/agent')
    await remove('account/agent')
    assert.equal(existsSync(inside), false)
  } finally {
    await rm(root, { recursive: true, force: true })
  }
})
