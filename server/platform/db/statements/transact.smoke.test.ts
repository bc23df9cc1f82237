import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { freshDatabase, onPostgres } from '../../../../test/database.ts'
import type { Db } from '../database.ts'
import { transact } from './transact.ts'

let db: Db
let close: () => Promise<void>

beforeEach(async () => {
  const { database, drop } = await freshDatabase({ empty: true })
  db = database.db
  close = async () => {
    await database.close()
    await drop()
  }
  await sql`create table notes (id integer primary key, text text)`.execute(db)
})
afterEach(() => close())

const add = (on: Db, { id, text = null }: { id: number; text?: string | null }) =>
  sql`insert into notes values (${id}, ${text})`.execute(on)
const counted = async (on: Db = db) =>
  (await sql<{ n: number }>`select count(*) as n from notes`.execute(on)).rows[0]?.n
const codeOf = (code: string) => (error: unknown) => (error as { code?: string }).code === code

test('a transaction in which a statement fails is rolled back with the error of that statement', async () => {
  const failing = transact(db, async (trx) => {
    await add(trx, { id: 1 })
    await add(trx, { id: 1 })
  })
  await assert.rejects(
    failing,
    (error: { code?: string; table?: string; constraint?: string; detail?: string }) => {
      assert.deepEqual([error.code, error.table, error.constraint], ['23505', 'notes', 'notes_pkey'])
      assert.match(error.detail ?? '', /already exists/)
      return true
    },
  )
  assert.equal(await counted(), 0)
  await add(db, { id: 1 })
  assert.equal(await counted(), 1)
})

test('a rejected commit rejects the transaction and leaves the connection usable', async () => {
  await sql`create table twice (id integer unique deferrable initially deferred)`.execute(db)
  for (let round = 0; round < 3; round++) {
    const refused = transact(db, async (trx) => {
      await sql`insert into twice values (1)`.execute(trx)
      await sql`insert into twice values (1)`.execute(trx)
    })
    await assert.rejects(refused, codeOf('23505'))
    await assert.rejects(sql`insert into twice values (1), (1)`.execute(db), codeOf('23505'))
  }
  assert.deepEqual((await sql`select * from twice`.execute(db)).rows, [])
})

test('of statements started together, those after a failing one are not run', async () => {
  const outcomes: PromiseSettledResult<unknown>[] = []
  const work = transact(db, async (trx) => {
    const together = [{ id: 1 }, { id: 2 }, { id: 2 }, { id: 3 }].map((values) => add(trx, values))
    outcomes.push(...(await Promise.allSettled(together)))
    return 'goes on although a statement has failed'
  })
  await assert.rejects(work)
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'done')),
    ['done', 'done', '23505', '25P02'],
  )
  assert.equal(await counted(), 0)
  await transact(db, (trx) => Promise.all([add(trx, { id: 1 }), add(trx, { id: 2 })]))
  assert.equal(await counted(), 2)
})

const allNotes = (on: Db) => sql<{ id: number }>`select * from notes where id >= ${0} order by id`.execute(on)
const rename = (on: Db, { id, text }: { id: number; text: string }) =>
  sql<{ text: string }>`update notes set text = ${text} where id = ${id} returning *`.execute(on)

test('statements that every connection has prepared go on when a migration has changed their columns', async () => {
  await add(db, { id: 1 })
  const look = () => allNotes(db)
  const change = (text: string) =>
    transact(db, async (trx) => {
      const [{ rows }] = await Promise.all([rename(trx, { id: 1, text }), allNotes(trx)])
      return rows[0]?.text
    })
  const everywhere = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: 20 }, work))
  await everywhere(look)
  await everywhere(() => change('before'))
  await sql`alter table notes add column colour text default 'red'`.execute(db)
  assert.deepEqual(new Set(await everywhere(() => change('after'))), new Set(['after']))
  await sql`alter table notes add column size integer default 3`.execute(db)
  for (const { rows } of await everywhere(look))
    assert.deepEqual(rows, [{ id: 1, text: 'after', colour: 'red', size: 3 }])
})

test('statements that the server has forgotten are prepared again', async () => {
  await add(db, { id: 1 })
  await db.connection().execute(async (one) => {
    assert.equal((await allNotes(one)).rows.length, 1)
    await sql`deallocate all`.execute(one)
    assert.equal((await allNotes(one)).rows.length, 1)
  })
  await transact(db, async (trx) => {
    await allNotes(trx)
    await sql`deallocate all`.execute(trx)
  })
  assert.equal(await transact(db, async (trx) => (await allNotes(trx)).rows.length), 1)
})

test('a finished transaction accepts no more statements', async () => {
  let kept: Db | undefined
  await transact(db, async (trx) => {
    kept = trx
    await add(trx, { id: 1 })
  })
  await assert.rejects(add(kept as Db, { id: 2 }), /committed/)
  assert.equal(await counted(), 1)
})

test('a value that cannot be encoded or parsed fails only its own statement', async () => {
  const circular: Record<string, unknown> = {}
  circular.self = circular
  await transact(db, async (trx) => {
    const [refused, done] = await Promise.allSettled([
      sql`insert into notes values (1, ${circular})`.execute(trx),
      add(trx, { id: 2 }),
    ])
    assert.deepEqual([refused.status, done.status], ['rejected', 'fulfilled'])
  })
  assert.equal(await counted(), 1)
})

test('a statement that fails at its first use works once it is valid', async () => {
  const read = () => sql`select * from later where id = ${1}`.execute(db)
  await assert.rejects(read(), codeOf('42P01'))
  await sql`create table later (id integer)`.execute(db)
  await sql`insert into later values (1)`.execute(db)
  assert.deepEqual((await read()).rows, [{ id: 1 }])
  const half = (id: number) => sql`insert into later values (100 / ${id}::int)`.execute(db)
  await assert.rejects(half(0), codeOf('22012'))
  assert.equal((await half(1)).numAffectedRows, 1n)
})

test('more texts are used than a connection keeps prepared', async () => {
  await db.connection().execute(async (one) => {
    for (let round = 0; round < 3; round++) {
      for (let n = 0; n < 1_100; n++) {
        const { rows } = await sql<{ sum: number }>`select ${sql.lit(n)} + ${1}::int as sum`.execute(one)
        assert.equal(rows[0]?.sum, n + 1)
      }
    }
  })
  const { rows } = await sql<{ n: number }>`select count(*) as n from pg_prepared_statements`.execute(db)
  assert.ok((rows[0]?.n ?? 0) <= 1_000)
})

test('a connection that is cut off in a transaction is not reused', {
  skip: !onPostgres() && 'there is no connection',
}, async () => {
  for (let round = 0; round < 5; round++) {
    const cut = transact(db, async (trx) => {
      await add(trx, { id: 1 })
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx)
      await sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(db)
      await add(trx, { id: 2 })
    })
    await assert.rejects(cut)
    assert.equal(await counted(), 0)
  }
})
