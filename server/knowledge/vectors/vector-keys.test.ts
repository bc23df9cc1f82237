import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { freshDatabase } from '../../../test/database.ts'
import { newId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'
import { migrate, readMigrations } from '../../platform/db/upkeep/migrate.ts'
import { vectorKey } from '../training/embed-chunks.ts'

const chunks = [
  { headingPath: [], questions: null, text: 'Only text.' },
  { headingPath: ['Über uns', 'a "quoted" part'], questions: null, text: 'Zwei\nZeilen \\ 日本語 🙂' },
  { headingPath: ['A'], questions: ['Who?', 'What\nnow?'], text: 'That.' },
  { headingPath: [], questions: [], text: '' },
]

test('vectors from before the migration keep the keys that the same chunks get today', async () => {
  const { database, drop } = await freshDatabase({ empty: true })
  const { db } = database
  const all = readMigrations()
  await migrate(
    db,
    all.filter(({ name }) => name < '0008'),
  )
  const [account, source] = [newId(), newId()]
  await sql`insert into accounts (id, name, plan) values (${account}, 'A', 'unlimited')`.execute(db)
  await sql`insert into agents (id, account_id, name, instructions, model, temp, visibility, initial_messages, ip_rate_limits, styles)
    values ('agent', ${account}, 'A', '', 'auto', 0, 'public', '[]', '{}', '{}')`.execute(db)
  await sql`insert into sources (id, account_id, agent_id, type, status, content)
    values (${source}, ${account}, 'agent', 'text', 'trained', '{}')`.execute(db)
  for (const [ordinal, { headingPath, questions, text }] of chunks.entries()) {
    await sql`insert into chunks (id, account_id, agent_id, source_id, version, ordinal, heading_path, questions, text, vector, vector_space)
      values (${newId()}, ${account}, 'agent', ${source}, 1, ${ordinal}, ${json(headingPath)}, ${json(questions)}, ${text},
        '\\x0000803f'::bytea, ${ordinal === 0 ? 'other' : 'space'})`.execute(db)
  }
  await migrate(db, all)
  const rows = await db.selectFrom('chunks').select('vector_key').orderBy('ordinal').execute()
  assert.deepEqual(
    rows.map(({ vector_key }) => vector_key),
    chunks.map(vectorKey),
  )
  const vectors = await db.selectFrom('chunk_vectors').select(['space', 'vector_key']).execute()
  assert.deepEqual(
    new Map(vectors.map(({ vector_key, space }) => [vector_key, space])),
    new Map(chunks.map((chunk, i) => [vectorKey(chunk), i === 0 ? 'other' : 'space'])),
  )
  const agent = await db.selectFrom('agents').select('vector_space').executeTakeFirstOrThrow()
  assert.equal(agent.vector_space, 'space')
  await database.close()
  await drop()
})
