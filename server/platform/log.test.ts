import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { freshDatabase } from '../../test/database.ts'
import { DatabaseUnavailable } from './db/connections/database-errors.ts'
import { createLog } from './log.ts'

const SAID = 'marzipan'

/** Returns the log lines for the errors that the work throws, both as the error and as the cause of another. */
async function written(...works: (() => unknown)[]): Promise<string[]> {
  const lines: string[] = []
  const log = createLog('info', 'json', { write: (line: string) => void lines.push(line) })
  for (const work of works) {
    const error = await Promise.resolve()
      .then(work)
      .then(
        () => assert.fail('nothing was thrown'),
        (thrown: unknown) => thrown as Error,
      )
    const wrapped = new Error('A sentence of ours.', {
      cause: new AggregateError([error, error], 'Several.'),
    })
    log.error({ err: error }, 'plain')
    log.child({ reqId: 'x' }).warn({ err: wrapped }, 'wrapped')
    if (!(error instanceof Error)) continue
    log.error({ err: error }, error.message)
    log.error({ err: error })
    log.error(error)
    log.error(new AggregateError([wrapped], error.message))
  }
  return lines
}

test("no log line contains customers' text, whatever the error is about", async () => {
  const { database, drop } = await freshDatabase()
  const { db } = database
  await sql`create table said (id integer primary key, text text unique check (length(text) < 30))`.execute(
    db,
  )
  await sql`insert into said values (1, ${SAID})`.execute(db)
  const texts = [SAID, `"${SAID}" he said, "twice"\n    at ${SAID} (here)`, `it's ${SAID}`, `${SAID}' or "`]
  const lines = await written(
    ...texts.flatMap((text) => [
      () => sql`select ${text}::integer`.execute(db),
      () => sql`select ${text}::jsonb`.execute(db),
      () => sql`select ${text}::uuid`.execute(db),
      () => sql`select * from ${sql.id(text)}`.execute(db),
      () => db.transaction().execute((trx) => sql`select ${text}::timestamptz`.execute(trx)),
      () => JSON.parse(text),
      () => JSON.parse(`{"text": ${text}}`),
      () => new URL(text),
      () => ({})[text as never] + (null as unknown as string).length,
      () => {
        throw Object.assign(new Error('The provider refused.'), {
          requestBodyValues: { prompt: text },
          responseBody: text,
          parameters: [text],
        })
      },
      () => Promise.reject(text),
    ]),
    () => sql`insert into said values (2, ${SAID})`.execute(db),
    () => sql`insert into said values (3, ${SAID.repeat(9)})`.execute(db),
    () => sql`do $$ begin perform ${sql.lit(SAID)}::integer; end $$`.execute(db),
  )
  await database.close()
  await drop()
  assert.ok(lines.length > 200)
  for (const line of lines) assert.ok(!line.includes(SAID), line)
  const duplicate = lines.map((line) => JSON.parse(line)).find(({ err }) => err.code === '23505')
  assert.equal(duplicate.err.constraint, 'said_text_key')
  assert.equal(duplicate.err.table, 'said')
  assert.match(duplicate.err.message, /^duplicate key value violates unique constraint …/)
  assert.match(duplicate.err.stack, /^ {4}at /)
})

test('messages of the operating system and the program stay readable', async () => {
  const { readFile } = await import('node:fs/promises')
  const [line] = await written(() => readFile('/no/such/file'))
  assert.equal(JSON.parse(line ?? '').err.message, "ENOENT: no such file or directory, open '/no/such/file'")
})

test('a chain of causes is followed up to a limit', async () => {
  const looped = new Error('first')
  looped.cause = new Error('second', { cause: looped })
  const [line = ''] = await written(() => Promise.reject(looped))
  assert.equal(JSON.parse(line).err.cause.cause.message, 'first')
  assert.ok(line.length < 20_000)
})

test('while the database is unavailable, errors that follow from it are not logged', async () => {
  assert.deepEqual(
    await written(() => Promise.reject(new DatabaseUnavailable('silent'))).then((lines) => lines.length),
    0,
  )
})
