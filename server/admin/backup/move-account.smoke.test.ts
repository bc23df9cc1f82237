import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { addManyConversations } from '../../../bench/many-conversations.ts'
import { freshDatabase, onPostgres } from '../../../test/database.ts'
import { createAccount } from '../../accounts/records/accounts.ts'
import { createAgent } from '../../agents/records/create-agent.ts'
import { conversationLines, type FileFormat } from '../../conversations/exports/conversation-lines.ts'
import { conversationTotal } from '../../conversations/records/conversation-lists.ts'
import { createIndexer } from '../../conversations/search/index/index-conversations.ts'
import { readFilters } from '../../conversations/search/query/read-filters.ts'
import { createSearch } from '../../conversations/search/query/search-conversations.ts'
import { type Database, type Db, openEmbedded } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { migrate } from '../../platform/db/upkeep/migrate.ts'
import { createSealKey } from '../../platform/secrets/seal.ts'
import { CHECK_PLACE } from '../../platform/secrets/secret-check.ts'
import type { Line } from './backup-format.ts'
import { importAccount } from './import-account.ts'
import { restoreBackup } from './restore-backup.ts'
import { filesIn, writeBackup } from './write-backup.ts'

let folder: string
let from: Awaited<ReturnType<typeof freshDatabase>>
let to: Database
let account: { id: AccountId; name: string }
let agentId: string
const [oldKey, newKey] = [createSealKey('old key'), createSealKey('new key')]
const filesOf = (side: string) => join(folder, side)

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-move-'))
  from = await freshDatabase()
  // On PostgreSQL, the account is moved to the other engine.
  to = onPostgres() ? await openEmbedded('memory') : (await freshDatabase()).database
  const { db } = from.database
  for (const one of [db, to.db]) await migrate(one)
  account = { id: await createAccount(db, 'Moving'), name: 'Moving' }
  agentId = await createAgent(db, { id: account.id, plan: 'unlimited' }, 'test', { name: 'Agent' })
  await addManyConversations(db, { accountId: account.id, agentId }, 300)
  await addAction(db, { authorization: oldKey.seal('Bearer x', CHECK_PLACE) })
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
  for await (const piece of conversationLines(db, { accountId: account.id, agentId }, format, counts))
    text += piece
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

test('an account moves to the other database with everything that belongs to it, and nothing else', async () => {
  const [first, second] = [join(folder, 'first.gz'), join(folder, 'second.gz')]
  await to.db
    .insertInto('settings')
    .values({ name: 'secret-check', value: json(oldKey.seal('parley', CHECK_PLACE)) })
    .execute()
  const here = await createAccount(to.db, 'Here before')
  const { rows } = await writeBackup(from.database.db, filesOf('from'), first, account)
  const imported = await importAccount(to.db, filesOf('to'), first)
  assert.deepEqual(imported, { account, rows, files: 1, locked: { actions: 0, rows: 0 }, withoutVectors: 0 })
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

  await assert.rejects(importAccount(to.db, filesOf('to'), first), /already exists here; nothing was changed/)
  await assert.rejects(restoreBackup(to.db, filesOf('to'), first), /contains one account/)
  const whole = join(folder, 'whole.gz')
  await writeBackup(from.database.db, filesOf('from'), whole)
  await assert.rejects(importAccount(to.db, filesOf('to'), whole), /is not an export of an account/)
  assert.equal((await readFile(join(filesOf('to'), account.id, 'agent', 'file'))).toString(), account.id)
})

test('values encrypted with another key are left behind', async () => {
  const file = join(folder, 'locked.gz')
  await writeBackup(from.database.db, filesOf('from'), file, account)
  await to.db.deleteFrom('accounts').where('id', '=', account.id).execute()
  await sql`update settings set value = ${json(newKey.seal('parley', CHECK_PLACE))} where name = 'secret-check'`.execute(
    to.db,
  )
  const { locked } = await importAccount(to.db, filesOf('to'), file)
  assert.deepEqual(locked, { actions: 1, rows: 0 })
  const { enabled, http } = await to.db.selectFrom('actions').selectAll().executeTakeFirstOrThrow()
  assert.deepEqual([enabled, http?.headers], [false, {}])
})

test('a forged export changes nothing outside the account that it names', async () => {
  const file = join(folder, 'forged.gz')
  const stranger = await createAccount(to.db, 'Stranger')
  const theirs = await createAgent(to.db, { id: stranger, plan: 'unlimited' }, 'test', { name: 'Theirs' })
  await mkdir(join(filesOf('to'), stranger), { recursive: true })
  await writeFile(join(filesOf('to'), stranger, 'file'), 'theirs')
  await writeFile(join(folder, 'secret.key'), 'secret')
  await to.db.deleteFrom('accounts').where('id', '=', account.id).execute()
  await writeBackup(from.database.db, filesOf('from'), file, account)
  const lines = gunzipSync(await readFile(file))
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
  const data = Buffer.from('forged').toString('base64')
  const rowsOf = (table: string) => {
    const found = lines.find((line) => line.kind === 'rows' && line.table === table)
    return found?.kind === 'rows' ? (found.rows[0] ?? {}) : {}
  }
  const [source, conversation] = [newId(), rowsOf('conversations')]
  const own = { account_id: account.id, agent_id: agentId }
  const times = { created_at: new Date(), updated_at: new Date() }
  const asRows = (table: string, row: object): Line => ({ kind: 'rows', table, rows: [{ ...row }] })
  const upload = { ...own, name: 'x', media_type: 'text/plain', size: 1, ...times }
  const paths = [
    '../secret.key',
    `${account.id}/../${stranger}/file`,
    `${stranger}/file`,
    '/etc/passwd',
    '',
    '.',
  ]
  const forged: [RegExp, Line][] = [
    ...[...paths, `${account.id}/a//b`, `${account.id}\\..\\x`, `${account.id}/.`].map(
      (path): [RegExp, Line] => [/is not valid for a file of Parley/, { kind: 'file', path, data }],
    ),
    ...[...paths, `${account.id}/other/attachments/x`].map((path): [RegExp, Line] => [
      /A row of attachments names a file that is not its own/,
      asRows('attachments', { ...upload, id: newId(), path }),
    ]),
    ...paths.map((path): [RegExp, Line] => [
      /A row of sources names a file that is not its own/,
      asRows('sources', {
        ...own,
        id: source,
        type: 'file',
        status: 'failed',
        content: { file: path },
        ...times,
      }),
    ]),
    [/has rows of another account in agent_ids/, asRows('agent_ids', { id: 'x', account_id: stranger })],
    [/has rows of another account in accounts/, asRows('accounts', { id: stranger, name: 'Taken over' })],
    [/has an unknown table settings/, asRows('settings', { name: 'maintenance', value: true })],
  ]
  const forgedNames: [RegExp, Line][] = [
    [/duplicate key/, asRows('agent_ids', { id: theirs, account_id: account.id })],
    [
      /rows of another account in conversations/,
      asRows('conversations', { ...conversation, id: newId(), agent_id: theirs }),
    ],
    [
      /rows of another account in topics/,
      asRows('topics', {
        id: newId(),
        account_id: account.id,
        agent_id: theirs,
        name: 'x',
        key: 'x',
        description: '',
        origin: 'manual',
        aliases: [],
        ...times,
      }),
    ],
  ]
  const before = await everything()
  for (const [refusal, line] of [...forged, ...forgedNames]) {
    // References are checked once all rows have been added. Anything that can be rejected at once does not wait for
    // that.
    const isName = forgedNames.some(([, other]) => other === line)
    const end = isName ? lines.findIndex(({ kind }) => kind === 'file' || kind === 'end') : 1
    const text = [...lines.slice(0, end), line, ...lines.slice(end, -1)].map(
      (one) => `${JSON.stringify(one)}\n`,
    )
    const sha256 = createHash('sha256').update(text.join('')).digest('hex')
    const last = JSON.stringify({ kind: 'end', rows: 0, files: 0, sha256 })
    await writeFile(file, gzipSync(`${text.join('')}${last}\n`))
    await assert.rejects(importAccount(to.db, filesOf('to'), file), refusal, JSON.stringify(line))
    assert.deepEqual(await everything(), before, JSON.stringify(line))
  }

  async function everything() {
    const files = (await filesIn(folder)).filter((path) => path.startsWith('to') || path === 'secret.key')
    const contents = files.map(async (path) => [path, (await readFile(join(folder, path))).toString()])
    const rows = async (
      table: 'accounts' | 'agents' | 'agent_ids' | 'attachments' | 'sources' | 'settings',
    ) => JSON.stringify(await to.db.selectFrom(table).selectAll().execute())
    const tables = ['accounts', 'agents', 'agent_ids', 'attachments', 'sources', 'settings'] as const
    return { files: await Promise.all(contents), rows: await Promise.all(tables.map(rows)) }
  }
})
