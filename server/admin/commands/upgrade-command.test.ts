import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { freshDatabase, onPostgres } from '../../../test/database.ts'
import { newHome, parley } from '../../../test/spawn-service.ts'
import { readApplied } from '../../platform/db/upkeep/migrate.ts'
import { CommandFailure, type Operations } from '../command.ts'
import { readTouched, upgradeCommand } from './upgrade-command.ts'

test('the tables of a migration, and those of which it works on every row', () => {
  const text = `-- compatible_from: 0076
-- update agents: only a comment
create table notes (id uuid primary key, agent_id uuid references agents on delete cascade);
create index notes_agent on notes (agent_id);
alter table messages add column note text, add column type text;
alter table contacts add constraint named check (name <> '') not valid;
update conversations set title = null where title = '';
insert into settings (name, value) values ('a', '1');
create function touch() returns trigger language plpgsql as $$
begin update pages set title = ''; return null; end $$;
create trigger touched after update of title on sources for each row execute function touch();`
  const { tables, allRows } = readTouched(text)
  for (const name of ['notes', 'messages', 'contacts', 'conversations', 'settings', 'sources'])
    assert.ok(tables.includes(name), name)
  for (const name of ['agents', 'pages']) assert.ok(!tables.includes(name), name)
  assert.deepEqual(allRows.sort(), ['contacts', 'conversations', 'notes'])
  const index = 'create unique index concurrently chunks_key on chunks (key)'
  assert.deepEqual(readTouched(index), { tables: ['chunks'], allRows: ['chunks'] })
})

test('the check names what is pending, and changes nothing', async () => {
  const { database, drop } = await freshDatabase()
  const { db, embedded } = database
  const operations = { db, embedded: false, dataDir: '/data' } as Operations
  const check = async () =>
    upgradeCommand.print(await upgradeCommand.run(operations, { values: { check: 'true' }, positionals: [] }))
  assert.match(await check(), /^Nothing to do/)
  const applied = await readApplied(db)
  const newest = applied
    .map(({ name }) => name)
    .sort()
    .at(-1)!
  for (const { name } of applied.filter(({ name }) => name >= '0075'))
    for (const table of ['schema_migrations', 'applied_migrations'])
      if (table === 'schema_migrations' || name > '0077')
        await sql`delete from ${sql.table(table)} where name = ${name}`.execute(db)
  const before = await readApplied(db)
  const said = await check()
  assert.match(said, new RegExp(`${newest}: `))
  assert.match(said, /0075_instruction_versions\.sql: .*\n/)
  assert.match(said, /Stop all processes of the former version before it/)
  assert.match(said, /pg_dump --format=custom.*\/data\/files/)
  assert.match(said, /Nothing was changed\./)
  assert.deepEqual(await readApplied(db), before)
  await assert.rejects(
    async () => upgradeCommand.run(operations, { values: {}, positionals: [] }),
    (error) => error instanceof CommandFailure && error.exitCode === 64,
  )
  assert.equal(embedded, !onPostgres())
  await database.close()
  await drop()
})

test('a folder without a database is not made', {
  skip: onPostgres() && 'it is about the embedded database',
}, async () => {
  const home = await newHome({ embedded: true, empty: true })
  const { code, stderr } = await parley(['upgrade', '--check'], home.env)
  assert.equal(code, 1)
  assert.match(stderr, /^There is no database in .*: nothing to upgrade\.\n$/)
  await home.remove()
})
