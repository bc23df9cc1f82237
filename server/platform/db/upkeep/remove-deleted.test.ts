import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { onPostgres } from '../../../../test/database.ts'
import { insertChunks } from '../../../knowledge/training/store-chunks.ts'
import { openEmbedded } from '../database.ts'
import { newId } from '../ids.ts'
import { json } from '../statements/json.ts'
import type { AccountId } from '../tables/columns.ts'
import { migrate } from './migrate.ts'
import { removeDeleted } from './vacuum.ts'

const MARKER = 'aldermoorquay'

const filesWith = (folder: string, word: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => readFileSync(file).includes(word))

test('nothing of a deleted source is left in the data folder', { skip: onPostgres() }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-deleted-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const database = await openEmbedded(folder)
  t.after(() => database.close())
  const { db } = database
  await migrate(db)
  const accountId = newId() as AccountId
  const agentId = newId()
  await sql`insert into accounts (id, name, plan) values (${accountId}, 'Account', 'pro')`.execute(db)
  await sql`
    insert into agents (id, account_id, name, instructions, model, temp, visibility, initial_messages, ip_rate_limits, styles)
    values (${agentId}, ${accountId}, 'Agent', '', 'builtin', 0, 'public', '[]', '{}', '{}')`.execute(db)
  const sources = ['kept', MARKER, 'kept as well'].map((word) => ({ id: newId(), word }))
  for (const { id, word } of sources) {
    await db
      .insertInto('sources')
      .values({
        id,
        account_id: accountId,
        agent_id: agentId,
        type: 'text',
        name: word,
        status: 'trained',
        content: json({ text: word }),
        live_version: 1,
      })
      .execute()
    const place = { accountId, agentId, sourceId: id, sourceName: word, page: null }
    const added = Array.from({ length: 30 }, (_, ordinal) => ({
      ordinal,
      chunk: {
        headingPath: [word],
        page: null,
        questions: null,
        text: `Part ${ordinal} says ${word} and more. `.repeat(8),
      },
    }))
    await db.transaction().execute((trx) => insertChunks(trx, place, 1, added))
  }
  await sql`checkpoint`.execute(db)
  assert.ok(filesWith(folder, MARKER).length > 0)
  await db.deleteFrom('sources').where('id', '=', sources[1]!.id).execute()
  await sql`select pg_stat_force_next_flush()`.execute(db)
  assert.ok((await removeDeleted(db, true)).includes('public.chunks'))
  assert.deepEqual(filesWith(folder, MARKER), [])
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from chunk_words`.execute(db)
  assert.equal(rows[0]!.n, 60)
  assert.deepEqual(await removeDeleted(db, true), [])
})
