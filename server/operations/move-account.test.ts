import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { addManyConversations } from '../../bench/many-conversations.ts'
import { freshDatabase, onPostgres } from '../../test/database.ts'
import { createAccount } from '../accounts/accounts.ts'
import { createAgent } from '../agents/create-agent.ts'
import { conversationTotal } from '../conversations/totals.ts'
import { type Database, type Db, openEmbedded } from '../db/database.ts'
import { newId } from '../db/ids.ts'
import { json } from '../db/json.ts'
import { migrate } from '../db/migrate.ts'
import type { AccountId } from '../db/tables.ts'
import { conversationLines, type FileFormat } from '../exports/conversation-lines.ts'
import { createIndexer } from '../search/index-conversations.ts'
import { readFilters } from '../search/read-filters.ts'
import { createSearch } from '../search/search-conversations.ts'
import { createSecrets } from '../secrets/secrets.ts'
import type { Line } from './backup-format.ts'
import { importAccount } from './import-account.ts'
import { restoreBackup } from './restore-backup.ts'
import { filesIn, writeBackup } from './write-backup.ts'

let folder: string
let from: Awaited<ReturnType<typeof freshDatabase>>
let to: Database
let account: { id: AccountId; name: string }
let agentId: string
const [oldKey, newKey] = [createSecrets('old key'), createSecrets('new key')]
const filesOf = (side: string) => join(folder, side)

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-move-'))
  from = await freshDatabase()
  // On PostgreSQL it goes to the other engine.
  to = onPostgres() ? await openEmbedded('memory') : (await freshDatabase()).database
  const { db } = from.database
  for (const one of [db, to.db]) await migrate(one)
  account = { id: await createAccount(db, 'Moving'), name: 'Moving' }
  agentId = await createAgent(db, { id: account.id, plan: 'unlimited' }, 'test', { name: 'Agent' })
  await addManyConversations(db, account.id, agentId, 300)
  await addAction(db, { authorization: oldKey.encrypt('Bearer x') })
  const stranger = await createAccount(db, 'Staying')
  await createAgent(db, { id: stranger, plan: 'unlimited' }, 'test', { name: 'Other' })
  for (const owner of [account.id, stranger]) {
    await mkdir(join(filesOf('from'), owner, 'agent'), { recursive: true })
    await writeFile(join(filesOf('from'), owner, 'agent', 'file'), owner)
  }
})
after(async () => {
  await from.database.close()
  await from.drop()
  await to.close()
  await rm(folder, { recursive: true })
})

async function addAction(db: Db, headers: Record<string, string>): Promise<void> {
  const http = { method: 'GET', url: 'https://example.com', headers, body: null, timeoutMs: 1000 }
  const own = { id: newId(), account_id: account.id, agent_id: agentId }
  const action = { name: 'look', type: 'http' as const, description: 'x', enabled: true }
  await db
    .insertInto('actions')
    .values({ ...own, ...action, inputs: json({}), http: json(http) })
    .execute()
}

async function linesOf(db: Db, format: FileFormat = 'ndjson'): Promise<string[]> {
  const counts = { conversations: 0, messages: 0 }
  let text = ''
  for await (const piece of conversationLines(db, account.id, agentId, format, counts)) text += piece
  const lines = text.trim().split('\n')
  assert.deepEqual([counts.conversations, counts.messages], [300, 1_500])
  return lines.sort()
}

async function rowsIn(file: string): Promise<string[]> {
  const lines = gunzipSync(await readFile(file))
    .toString()
    .trim()
    .split('\n')
  return lines
    .map((line) => JSON.parse(line) as Line)
    .flatMap((line) =>
      line.kind === 'rows' ? line.rows.map((row) => JSON.stringify([line.table, row])) : [],
    )
    .sort()
}

test('an account moves to the other database with all that belongs to it, and nothing else', async () => {
  const [first, second] = [join(folder, 'first.gz'), join(folder, 'second.gz')]
  await to.db
    .insertInto('settings')
    .values({ name: 'secret-check', value: json(oldKey.encrypt('parley')) })
    .execute()
  const here = await createAccount(to.db, 'Here before')
  const { rows } = await writeBackup(from.database.db, filesOf('from'), first, account)
  const imported = await importAccount(to.db, filesOf('to'), first)
  assert.deepEqual(imported, { account, rows, files: 1, locked: { actions: 0, rows: 0 } })
  await writeBackup(to.db, filesOf('to'), second, account)
  assert.deepEqual(await rowsIn(second), await rowsIn(first))
  assert.deepEqual(await linesOf(to.db), await linesOf(from.database.db))
  assert.deepEqual(await linesOf(to.db, 'csv'), await linesOf(from.database.db, 'csv'))
  assert.deepEqual(await filesIn(filesOf('to')), [join(account.id, 'agent', 'file')])
  const accounts = await to.db.selectFrom('accounts').select('id').execute()
  assert.deepEqual(accounts.map(({ id }) => id).sort(), [here, account.id].sort())
  await createIndexer().run(to.db)
  const asked = { query: 'case 299', limit: 5 }
  const { data } = await createSearch()(to.db, account.id, readFilters(agentId, asked, new Date()), asked)
  assert.equal(data[0]?.title, 'Case 299')
  const all = { agentId, sources: null, from: null, until: null }
  assert.equal(await conversationTotal(to.db, account.id, all), 300)

  await assert.rejects(importAccount(to.db, filesOf('to'), first), /is here already; nothing was changed/)
  await assert.rejects(restoreBackup(to.db, filesOf('to'), first), /holds one account/)
  const whole = join(folder, 'whole.gz')
  await writeBackup(from.database.db, filesOf('from'), whole)
  await assert.rejects(importAccount(to.db, filesOf('to'), whole), /is no export of an account/)
  assert.equal((await readFile(join(filesOf('to'), account.id, 'agent', 'file'))).toString(), account.id)
})

test('what another key encrypted stays behind', async () => {
  const file = join(folder, 'locked.gz')
  await writeBackup(from.database.db, filesOf('from'), file, account)
  await to.db.deleteFrom('accounts').where('id', '=', account.id).execute()
  await sql`update settings set value = ${json(newKey.encrypt('parley'))} where name = 'secret-check'`.execute(
    to.db,
  )
  const { locked } = await importAccount(to.db, filesOf('to'), file)
  assert.deepEqual(locked, { actions: 1, rows: 0 })
  const { enabled, http } = await to.db.selectFrom('actions').selectAll().executeTakeFirstOrThrow()
  assert.deepEqual([enabled, http?.headers], [false, {}])
})
