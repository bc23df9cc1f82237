import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { compileFunction } from 'node:vm'
import { sql } from 'kysely'
import { TABLE_OWNERS, TENANT_TABLES } from '../scripts/table-owners.ts'
import { newId } from '../server/platform/db/ids.ts'
import { freshDatabase } from './database.ts'
import { WITHOUT_ACCOUNT } from './statements-without-account.ts'
import { tablesWithoutAccount } from './tables-without-account.ts'
import { takeFaults } from './watch-statements.ts'

const root = resolve(import.meta.dirname, '..')

test('a table without a condition on the account is found', () => {
  const faults: [string, string[]][] = [
    ['select * from messages where id = $1', ['messages']],
    ['select "id" from "messages" as "m" where "m"."id" = $1 for update', ['messages']],
    ['select 1 from messages where account_id = $1 or id = $2', ['messages']],
    ['select 1 from messages where (account_id = $1 or id = $2) and id = $3', ['messages']],
    ['select 1 from messages where account_id <> $1 and not (account_id = $1)', ['messages']],
    ['update messages set account_id = $1 where id = $2', ['messages']],
    ['delete from messages where id = any($1)', ['messages']],
    ['insert into tickets (id, number) values ($1, $2)', ['tickets']],
    ['insert into tickets (id, account_id) select id, $1 from messages', ['messages']],
    ['with gone as (delete from leads where id = $1 returning id) select 1 from gone', ['leads']],
    ['select 1 from agents a, sources s where a.account_id = $1 and s.name = a.name', ['sources']],
    // The rows of the left table stay, whatever the condition says.
    [
      'select 1 from agents a left join sources s on s.agent_id = a.id and s.account_id = $1 and a.account_id = $1',
      ['agents'],
    ],
    ['select (select count(*) from tickets where account_id = $1) from agents where id = $2', ['agents']],
    ['select 1 from messages where id not in (select id from messages where account_id = $1)', ['messages']],
    [
      'select 1 from agents where not exists (select from tickets where agent_id = agents.id and account_id = $1)',
      ['agents'],
    ],
    ['select 1 from agents where account_id = $1 union select 1 from tickets', ['tickets']],
  ]
  for (const [text, tables] of faults) assert.deepEqual(tablesWithoutAccount(text), tables, text)
})

test('a condition on the account also covers tables that are joined by ids', () => {
  const fine = [
    'select * from messages where account_id = $1 and id = $2',
    'select 1 from "messages" where "messages"."account_id" in ($1, $2)',
    'select 1 from messages where (account_id, id) in (($1, $2), ($3, $4))',
    'select 1 from messages m join conversations c on c.id = m.conversation_id where c.account_id = $1',
    'select 1 from agents a left join sources s on s.agent_id = a.id where a.account_id = $1',
    'select (select count(*) from tickets t where t.agent_id = a.id) from agents a where a.account_id = $1',
    'select 1 from agents where exists (select from tickets where agent_id = agents.id and tickets.account_id = $1)',
    'update sources set name = $1 where id in (select id from sources where account_id = $2 for update)',
    'with own as (select id from tickets where account_id = $1) delete from tagged_tickets using own where tagged_tickets.ticket_id = own.id',
    'insert into tickets (id, account_id) values ($1, $2) on conflict (id) do update set number = 1 where tickets.id = $1',
    'select 1 from accounts where id = $1',
    'select 1 from pgboss.messages',
    'set local lock_timeout = 0',
  ]
  for (const text of fine) assert.deepEqual(tablesWithoutAccount(text), [], text)
})

test('a statement of the service that does not name the account fails the test that sent it', async () => {
  const { database, drop } = await freshDatabase()
  const filename = pathToFileURL(join(root, 'server/agents/planted.ts')).href
  const planted = compileFunction(
    `return (async () => await db.selectFrom('tickets').selectAll().where('id', '=', id).execute())()`,
    ['db', 'id'],
    { filename },
  )
  await planted(database.db, newId())
  const fault =
    'server/agents/planted.ts does not name the account of tickets: select * from "tickets" where "id" = $1'
  assert.deepEqual(takeFaults(), [fault])
  await planted(database.db, newId())
  // The statements of tests themselves do not count.
  await database.db.selectFrom('leads').selectAll().where('id', '=', newId()).execute()
  await database.close()
  await assert.rejects(drop(), { message: fault })
})

test('the lists name existing tables and files', async () => {
  const { database, drop } = await freshDatabase()
  const { rows } = await sql<{ name: string; has_account: boolean }>`
    select t.table_name as name, exists (
      select from information_schema.columns c where c.table_schema = t.table_schema
        and c.table_name = t.table_name and c.column_name = 'account_id') as has_account
    from information_schema.tables t where t.table_schema = 'public' and t.table_type = 'BASE TABLE'
      and t.table_name not in ('schema_migrations', 'applied_migrations')
      and not (select relispartition from pg_class where oid = t.table_name::regclass)`.execute(database.db)
  assert.deepEqual(rows.map(({ name }) => name).sort(), Object.keys(TABLE_OWNERS).sort())
  const tenants = rows.filter(({ has_account }) => has_account)
  assert.deepEqual(tenants.map(({ name }) => name).sort(), [...TENANT_TABLES].sort())
  for (const file of Object.keys(WITHOUT_ACCOUNT)) assert.ok(existsSync(join(root, file)), file)
  await database.close()
  await drop()
})
