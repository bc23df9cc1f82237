import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { after, test } from 'node:test'

const folder = mkdtempSync(join(tmpdir(), 'parley-tables-'))
after(() => rmSync(folder, { recursive: true }))

/** Runs the check on a project with these files of server/ and returns its result. */
function check(files: Record<string, string>): { status: number | null; problems: string[] } {
  const root = mkdtempSync(join(folder, 'project-'))
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  write('tsconfig.json', JSON.stringify({ compilerOptions: { noEmit: true, module: 'nodenext', types: [] } }))
  for (const [name, text] of Object.entries(files))
    write(
      `server/${name}.ts`,
      `declare const db: any, eb: any, sql: any, one: any\nexport const query = ${text}`,
    )
  const script = resolve(import.meta.dirname, '../scripts/check-tables.ts')
  const { status, stderr } = spawnSync(process.execPath, [script, root], { encoding: 'utf8' })
  return { status, problems: stderr.split('\n').filter((line) => line !== '') }
}

test('writes by other features are reported, however the statement is written', () => {
  const { status, problems } = check({
    'v1/insert': `db.insertInto('tickets').values({})`,
    'v1/update': `db.updateTable('conversations as c').set({})`,
    'v1/delete': `db.deleteFrom(['leads'])`,
    'v1/merge': `db.mergeInto('contacts as c').using('leads', 'leads.id', 'c.id')`,
    'v1/nested': `db.with('gone', (gone: any) => gone.deleteFrom('messages')).selectFrom('gone')`,
    'v1/insert-text': `sql\`insert into tickets (id) values (\${one})\``,
    'v1/update-text': `sql<{ id: string }>\`update only "conversations" set status = \${one}\``,
    'v1/delete-text': 'sql`with gone as (delete from messages returning id) select from gone`',
    'v1/named-table': `sql\`update \${sql.table('agents')} set name = \${one}\``,
    'v1/unnamed': 'db.insertInto(one).values({})',
    'v1/unnamed-table': `sql\`select from \${sql.table(one)}\``,
  })
  assert.equal(status, 1)
  assert.deepEqual(problems.sort(), [
    'server/v1/delete-text.ts writes messages, which only server/conversations/ may write',
    'server/v1/delete.ts writes leads, which only server/actions/ may write',
    'server/v1/insert-text.ts writes tickets, which only server/inbox/ may write',
    'server/v1/insert.ts writes tickets, which only server/inbox/ may write',
    'server/v1/merge.ts writes contacts, which only server/people/records/ may write',
    'server/v1/named-table.ts writes agents, which only server/agents/ may write',
    'server/v1/nested.ts writes messages, which only server/conversations/ may write',
    'server/v1/unnamed-table.ts uses a table that it does not name: sql.table(one)',
    'server/v1/unnamed.ts writes a table that it does not name: db.insertInto(one)',
    'server/v1/update-text.ts writes conversations, which only server/conversations/ may write',
    'server/v1/update.ts writes conversations, which only server/conversations/ may write',
  ])
})

test('reads from a lower layer are reported', () => {
  const { status, problems } = check({
    'agents/select': `db.selectFrom('sources as s').selectAll()`,
    'agents/list': `db.selectFrom(['agents', 'conversations as c'])`,
    'agents/join': `db.selectFrom('agents').leftJoin('contacts', 'contacts.agent_id', 'agents.id')`,
    'agents/exists': `eb.exists(eb.selectFrom('tickets').select('id'))`,
    'agents/text': `sql\`select 1 from agents, unnest(\${one}::text[], \${one}) as u, messages m where true\``,
    'agents/join-text': 'sql`agents join chunks on chunks.agent_id = agents.id`',
    'agents/part-text': 'sql`exists (select from tickets)`',
  })
  assert.equal(status, 1)
  assert.deepEqual(problems.sort(), [
    'server/agents/exists.ts reads tickets, which belongs to the higher layer server/inbox/',
    'server/agents/join-text.ts reads chunks, which belongs to the higher layer server/knowledge/',
    'server/agents/join.ts reads contacts, which belongs to the higher layer server/people/records/',
    'server/agents/list.ts reads conversations, which belongs to the higher layer server/conversations/',
    'server/agents/part-text.ts reads tickets, which belongs to the higher layer server/inbox/',
    'server/agents/select.ts reads sources, which belongs to the higher layer server/knowledge/',
    'server/agents/text.ts reads messages, which belongs to the higher layer server/conversations/',
  ])
})

test('owners, higher layers and exempt folders pass, and words in statements are not tables', () => {
  const { status, problems } = check({
    'inbox/own': `db.insertInto('tickets').expression(db.selectFrom('conversations'))`,
    'people/privacy/erase': `db.deleteFrom('messages')`,
    'admin/restore': `sql\`delete from \${sql.table(one)}\``,
    'agents/column': 'sql`select extract(epoch from tickets.created_at) for update of agents`',
    'agents/conflict': `sql\`insert into agents (id) values (\${one}) on conflict (id) do update set name = 1\``,
    'agents/array': `['a'].join('tickets')`,
  })
  assert.deepEqual({ status, problems }, { status: 0, problems: [] })
})
