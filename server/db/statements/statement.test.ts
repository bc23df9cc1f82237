import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { freshDatabase } from '../../../test/database.ts'
import { newId } from '../ids.ts'
import { statement, type Values } from './statement.ts'

const addAccount = statement(
  (p: Values<{ id: string; name: string }>) =>
    sql<{
      id: string
    }>`insert into accounts (id, name, plan) values (${p.id}, ${p.name}, 'unlimited') returning id`,
)
const namesOf = statement((p: Values<{ ids: string[] }>, db) =>
  db.selectFrom('accounts').select('name').where(sql<boolean>`id = any(${p.ids}::uuid[])`).orderBy('name'),
)

test('a statement is run with new values each time, in a transaction and outside', async () => {
  const { database, drop } = await freshDatabase()
  const { db } = database
  const ids = [newId(), newId()]
  const first = await addAccount(db, { id: ids[0] as string, name: 'One' })
  assert.deepEqual(first.rows, [{ id: ids[0] }])
  assert.equal(first.numAffectedRows, 1n)
  await assert.rejects(
    db.transaction().execute(async (trx) => {
      await addAccount(trx, { id: ids[1] as string, name: 'Two' })
      assert.deepEqual((await namesOf(trx, { ids })).rows, [{ name: 'One' }, { name: 'Two' }])
      throw new Error('rolled back on purpose')
    }),
  )
  assert.deepEqual((await namesOf(db, { ids })).rows, [{ name: 'One' }])
  assert.deepEqual(addAccount.query({ id: 'a', name: 'b' }).parameters, ['a', 'b'])
  await database.close()
  await drop()
})
