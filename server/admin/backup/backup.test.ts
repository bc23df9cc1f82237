import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { freshDatabase, onPostgres } from '../../../test/database.ts'
import { createAccount } from '../../accounts/records/accounts.ts'
import { ensureSpace, findSpace, vectorsOf } from '../../knowledge/vectors/spaces.ts'
import { type Database, type Db, openEmbedded } from '../../platform/db/database.ts'
import { newAgentId, newId } from '../../platform/db/ids.ts'
import { migrate } from '../../platform/db/upkeep/migrate.ts'
import { preparePgvector } from '../../platform/db/upkeep/pgvector.ts'
import { soleProcess } from '../../platform/db/upkeep/processes.ts'
import { openJobs } from '../../platform/jobs/open-jobs.ts'
import { CommandFailure } from '../command.ts'
import type { Line } from './backup-format.ts'
import { backupTables, derivedTables, settingsLeftOut } from './backup-tables.ts'
import { restoreBackup } from './restore-backup.ts'
import { filesIn, writeBackup } from './write-backup.ts'

const SOURCES = 9

let folder: string
let from: Awaited<ReturnType<typeof freshDatabase>>
let to: Database
let backup: string
const filesFrom = () => join(folder, 'from')
const filesTo = () => join(folder, 'to')

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-backup-'))
  backup = join(folder, 'backup.gz')
  from = await freshDatabase()
  // On PostgreSQL, the backup is restored into the other engine.
  to = onPostgres() ? await openEmbedded('memory') : (await freshDatabase()).database
  await migrate(from.database.db)
  await migrate(to.db)
  await fill(from.database.db, filesFrom())
})
after(async () => {
  await from.database.close()
  await from.drop()
  await to.close()
  await rm(folder, { recursive: true })
})

/** Unusual texts, bytes, nulls, times and a page boundary in several tables. One of the files is empty. */
async function fill(db: Db, files: string): Promise<void> {
  const account = await createAccount(db, "Odd „name“ \\ ' \u2028 秘密")
  const agent = newAgentId()
  await sql`insert into agents (id, account_id, name, instructions, model, temp, visibility, initial_messages,
      ip_rate_limits, styles, knowledge_version)
    values (${agent}, ${account}, 'A', '', 'auto', 0.1, 'public', '["a\\nb"]', '{"limit":1}', '{}', 3)`.execute(
    db,
  )
  for (let i = 0; i < SOURCES; i++) {
    const source = newId()
    await sql`insert into sources (id, account_id, agent_id, type, status, content, created_at)
      values (${source}, ${account}, ${agent}, 'file', 'trained', '{"file":null}', '2026-01-02 03:04:05.678+00')`.execute(
      db,
    )
    await sql`insert into chunks (id, account_id, agent_id, source_id, version, ordinal, heading_path, text, vector_key)
      values (${newId()}, ${account}, ${agent}, ${source}, 1, ${i}, '[]', ${'x'.repeat(i)}, 'k')`.execute(db)
    await sql`insert into chunk_vectors (source_id, space, vector_key, account_id, agent_id, vector)
      values (${source}, 'space', 'k', ${account}, ${agent}, '\\x00ff80'::bytea)`.execute(db)
    await mkdir(join(files, account, agent, source), { recursive: true })
    await writeFile(join(files, account, agent, source, 'f'), Buffer.alloc(i * 100_000, i))
  }
  await preparePgvector(db)
  const space = await ensureSpace(db, 'other space', 3)
  await sql`insert into ${vectorsOf(space!)} (account_id, agent_id, source_id, vector_key, vector)
    select account_id, agent_id, id, 'k', '[0.5,0,-1]' from sources`.execute(db)
  await sql`insert into settings (name, value) values ('maintenance', 'true'), ('other', '{"a":1}')`.execute(
    db,
  )
}

async function rowsOf(db: Db): Promise<Record<string, unknown>> {
  const all: Record<string, unknown> = {}
  for (const { name } of backupTables) {
    const kept = name === 'settings' ? sql`where name not in (${sql.join(settingsLeftOut)})` : sql``
    const { rows } = await sql<{ row: Record<string, unknown> }>`
      select to_jsonb(t) - 'knowledge_version' as row from ${sql.table(name)} t ${kept} order by 1`.execute(
      db,
    )
    all[name] = rows
  }
  const space = await findSpace(db, 'other space')
  const { rows: vectors } = await sql`
    select source_id, vector::text from ${vectorsOf(space!)} order by 1`.execute(db)
  assert.equal(vectors.length, SOURCES)
  return { ...all, vectors }
}

async function contentsOf(files: string): Promise<Record<string, string>> {
  const hashes = await Promise.all(
    (await filesIn(files)).map(async (path) => [
      path,
      createHash('sha1')
        .update(await readFile(join(files, path)))
        .digest('hex'),
    ]),
  )
  return Object.fromEntries(hashes.sort())
}

test('no table and no primary key column is missing, and referenced tables come first', async () => {
  const { db } = from.database
  const { rows } = await sql<{ name: string; key: string[] }>`
    select c.relname as name, array_to_json(array(
      select a.attname from unnest(i.indkey) with ordinality k (n, at)
      join pg_attribute a on a.attrelid = c.oid and a.attnum = k.n order by k.at)) as key
    from pg_class c join pg_index i on i.indrelid = c.oid and i.indisprimary
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
      and not c.relispartition and c.relname not in (${sql.join(['schema_migrations', 'applied_migrations', ...derivedTables])})`.execute(
    db,
  )
  const listed = backupTables.map(({ name, key }) => ({ name, key }))
  const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name)
  assert.deepEqual(listed.sort(byName), rows.sort(byName))
  const references = await sql<{ child: string; parent: string }>`
    select conrelid::regclass::text as child, confrelid::regclass::text as parent from pg_constraint
    where contype = 'f' and connamespace = 'public'::regnamespace and conrelid <> confrelid and conparentid = 0
      and conrelid::regclass::text not in (${sql.join(derivedTables)})`.execute(db)
  const place = new Map<string, number>(backupTables.map(({ name }, i) => [name, i]))
  for (const { child, parent } of references.rows)
    assert.ok(place.get(parent)! < place.get(child)!, `${parent} before ${child}`)
})

test('every row and file is restored into another database, and its previous contents are gone', async () => {
  const made = await writeBackup(from.database.db, filesFrom(), backup)
  assert.equal(made.files, SOURCES)
  assert.equal((await stat(backup)).mode & 0o777, 0o600)
  await createAccount(to.db, 'Replaced')
  await mkdir(filesTo(), { recursive: true })
  await writeFile(join(filesTo(), 'replaced'), 'x')
  assert.deepEqual(await restoreBackup(to.db, filesTo(), backup), {
    ...made,
    locked: { actions: 0, rows: 0 },
    withoutVectors: 0,
  })
  assert.deepEqual(await rowsOf(to.db), await rowsOf(from.database.db))
  assert.deepEqual(await contentsOf(filesTo()), await contentsOf(filesFrom()))
  const agent = await to.db.selectFrom('agents').select('knowledge_version').executeTakeFirstOrThrow()
  assert.ok(agent.knowledge_version > 1_000_000_000)
  const switched = await sql`select 1 from settings where name = 'maintenance'`.execute(to.db)
  assert.equal(switched.rows.length, 0, 'the switch of an installation stays with it')
  assert.deepEqual((await readdir(folder)).sort(), ['backup.gz', 'from', 'to'])
})

test('without pgvector, everything but the vectors is restored, and agents use words alone', async () => {
  const { db } = to
  await sql`update agents set vector_space = 'other space'`.execute(from.database.db)
  const file = join(folder, 'with-vectors.gz')
  await writeBackup(from.database.db, filesFrom(), file)
  await sql`create function refuse() returns event_trigger language plpgsql as
    $$ begin raise insufficient_privilege; end $$`.execute(db)
  await sql`drop extension vector cascade`.execute(db)
  await sql`create event trigger refused on ddl_command_start when tag in ('CREATE EXTENSION')
    execute function refuse()`.execute(db)
  await sql`delete from chunk_vectors`.execute(db)
  const { withoutVectors } = await restoreBackup(db, filesTo(), file)
  assert.equal(withoutVectors, SOURCES)
  const { rows } = await sql`select distinct vector_space from agents`.execute(db)
  // Those of a former version are moved when pgvector is there.
  assert.deepEqual(rows, [{ vector_space: 'other space' }])
  await sql`drop event trigger refused`.execute(db)
  await restoreBackup(db, filesTo(), file)
})

test('jobs in the queue do not affect restored data', async () => {
  const { db } = to
  const jobs = openJobs({ db, process: await soleProcess(db), onError: assert.ifError })
  await jobs.enqueue(db, 'remove-files', { folder: 'x' })
  const waiting = async () =>
    (await sql<{ n: number }>`select count(*)::int as n from jobs`.execute(db)).rows[0]?.n
  assert.equal(await waiting(), 1)
  await restoreBackup(db, filesTo(), backup)
  assert.equal(await waiting(), 0)
  await jobs.close()
})

test('files that are deleted during the backup do not damage it', async () => {
  const files = join(folder, 'vanishing')
  const copy = join(folder, 'vanishing.gz')
  await mkdir(files)
  const names = Array.from({ length: 40 }, (_, i) => `f${i}`)
  for (const name of names) await writeFile(join(files, name), randomBytes(200_000))
  const writing = writeBackup(from.database.db, files, copy)
  // It appears among the files once a few of them have been written.
  while ((await stat(`${copy}.tmp`).catch(() => ({ size: 0 }))).size < 500_000) await nextTurn()
  for (const name of names) rmSync(join(files, name))
  const made = await writing
  assert.ok(made.files > 0 && made.files < names.length, `${made.files} files`)
  const lines = gunzipSync(await readFile(copy))
    .toString()
    .trim()
    .split('\n')
  assert.deepEqual(JSON.parse(lines.at(-1)!).files, made.files)
  await rm(files, { recursive: true })
  await rm(copy)
})

/** Returns the backup with modified lines and a correct hash. */
async function forged(change: (lines: Line[]) => Line[]): Promise<string> {
  const text = gunzipSync(await readFile(backup))
    .toString()
    .trim()
  const lines = change(text.split('\n').map((line) => JSON.parse(line)))
  const body = lines
    .filter(({ kind }) => kind !== 'end')
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('')
  const sha256 = createHash('sha256').update(body).digest('hex')
  const file = join(folder, 'forged.gz')
  await writeFile(
    file,
    gzipSync(`${body}${JSON.stringify({ kind: 'end', rows: 0, files: 0, sha256 } satisfies Line)}\n`),
  )
  return file
}

const STRAY_PATHS = [
  '../secret.key',
  '../files/../secret.key',
  'account/../../secret.key',
  '/etc/passwd',
  '',
  '.',
  'account//file',
  'account\\..\\..\\secret.key',
  'account/agent/source/file\0.txt',
]

const withFile = (line: Line, path: string): Line =>
  line.kind === 'rows' && line.table === 'sources'
    ? { ...line, rows: line.rows.map((row) => ({ ...row, content: { file: path } })) }
    : line

test('a backup has no links and nothing else that the service has not put into its files', async () => {
  const { db } = from.database
  await writeFile(join(folder, 'secret.key'), 'secret')
  await symlink(join(folder, 'secret.key'), join(filesFrom(), 'link'))
  await symlink(folder, join(filesFrom(), 'folder'))
  await writeFile(join(filesFrom(), '.DS_Store'), 'x')
  const file = join(folder, 'linked.gz')
  const { files } = await writeBackup(db, filesFrom(), file)
  assert.equal(files, SOURCES)
  for (const name of ['link', 'folder', '.DS_Store']) await rm(join(filesFrom(), name))
})

test('an invalid backup is rejected with one sentence and changes nothing', async () => {
  const rows = await rowsOf(to.db)
  const files = await contentsOf(filesTo())
  const whole = await readFile(backup)
  const [text, cut] = [join(folder, 'text'), join(folder, 'cut')]
  await writeFile(text, 'no backup')
  await writeFile(cut, whole.subarray(0, whole.length >> 1))
  const refusals: [RegExp, () => Promise<string> | string][] = [
    [/is damaged, truncated, or not a backup/, () => text],
    [/is damaged, truncated, or not a backup/, () => cut],
    [/There is no file/, () => join(folder, 'missing')],
    [/cannot be read \(EISDIR\)/, () => folder],
    [/is not a backup of Parley/, () => forged(() => [])],
    [
      /another version/,
      () =>
        forged(([head, ...rest]) => [
          {
            ...head,
            migrations: { ...(head as { migrations: object }).migrations, '9999_new.sql': 'x' },
          } as Line,
          ...rest,
        ]),
    ],
    ...STRAY_PATHS.flatMap((path): [RegExp, () => Promise<string>][] => [
      [
        /is not valid for a file of Parley/,
        () => forged((lines) => [...lines, { kind: 'file', path, data: '' }]),
      ],
      [
        /A row of sources names a file that is not its own/,
        () => forged((lines) => lines.map((line) => withFile(line, path))),
      ],
      [
        /A row of attachments names a file that is not its own/,
        () => forged((lines) => [...lines, { kind: 'rows', table: 'attachments', rows: [{ path }] }]),
      ],
    ]),
    [/unknown table/, () => forged((lines) => [...lines, { kind: 'rows', table: 'pg_class', rows: [{}] }])],
  ]
  for (const [pattern, make] of refusals) {
    const file = await make()
    await assert.rejects(restoreBackup(to.db, filesTo(), file), (error) => {
      assert.ok(error instanceof CommandFailure, String(error))
      assert.match(error.message, pattern)
      return true
    })
    assert.deepEqual(await rowsOf(to.db), rows, String(pattern))
    assert.deepEqual(await contentsOf(filesTo()), files)
  }
  // A row that the database rejects, after new files have been moved into place.
  const twice = await forged((lines) => [
    { ...lines[0]! },
    ...lines.slice(1),
    { kind: 'file', path: 'new/one', data: '' },
    ...lines.filter(({ kind }) => kind === 'rows').slice(0, 1),
  ])
  await assert.rejects(restoreBackup(to.db, filesTo(), twice), /duplicate|unique/)
  assert.deepEqual([await rowsOf(to.db), await contentsOf(filesTo())], [rows, files])
})

test('a backup that cannot be written results in a sentence and leaves nothing behind', async () => {
  const { db } = from.database
  await assert.rejects(
    writeBackup(db, filesFrom(), join(folder, 'nowhere', 'b')),
    /cannot be written \(ENOENT\)/,
  )
  await mkdir(join(folder, 'taken'))
  await assert.rejects(writeBackup(db, filesFrom(), join(folder, 'taken')), /cannot be written/)
  await assert.rejects(stat(join(folder, 'taken.tmp')), /ENOENT/)
  assert.ok((await rowsOf(db)).accounts, 'the connection is free again')
})
