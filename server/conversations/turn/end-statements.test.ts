import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { CompiledQuery } from 'kysely'
import { freshDatabase } from '../../../test/database.ts'
import type { Database } from '../../db/database.ts'
import { newId } from '../../db/ids.ts'
import { append } from '../stream/generation-log.ts'
import { endReplies } from './end-statements.ts'
import { storeTitles } from './title-writer.ts'

let database: Database
let drop: () => Promise<void>

before(async () => {
  ;({ database, drop } = await freshDatabase())
})
after(async () => {
  await database.close()
  await drop()
})

const ref = { accountId: newId(), agentId: newId() }
const ending = {
  ...ref,
  id: newId(),
  conversationId: newId(),
  messageId: newId(),
  owner: newId(),
  epoch: 1,
  ownerAfter: newId(),
  status: 'finished',
  finishReason: 'stop',
  parts: '[]',
  metadata: '{}',
  position: 0,
  events: '',
  ending: '{}',
}
const statements: Record<string, CompiledQuery> = {
  endReplies: endReplies.query({ ...ref, endings: JSON.stringify([ending]) }),
  append: append.query({ owner: newId(), epoch: 1, ids: [newId()], positions: [0], events: [''] }),
  storeTitles: storeTitles.query({ accountIds: [ref.accountId], ids: [newId()], titles: ['A'] }),
}

for (const [name, { sql: text, parameters }] of Object.entries(statements)) {
  test(`${name} finds rows by their keys although the tables are empty when it is planned`, async () => {
    const explain = CompiledQuery.raw(`explain ${text}`, [...parameters])
    const { rows } = await database.db.executeQuery<{ 'QUERY PLAN': string }>(explain as never)
    const plan = rows.map((row) => row['QUERY PLAN'])
    assert.ok(plan.length > 3)
    assert.deepEqual(
      plan.filter((line) => /Seq Scan|Bitmap/.test(line)),
      [],
    )
  })
}
