import { type Compilable, type CompiledQuery, DummyDriver, type QueryResult, Transaction } from 'kysely'
import type { Connection } from '../connections/connection.ts'
import { postgresParts } from '../connections/pool-dialect.ts'
import type { Db, Trx } from '../database.ts'

/** The result of a transaction whose last statement is still running; `lastly` creates it. */
export class Last<T> {
  readonly answer: Promise<T>
  constructor(answer: Promise<T>) {
    this.answer = answer
    // The error is reported to whoever awaits the transaction, so this rejection must not go unhandled.
    answer.catch(() => {})
  }
}

/**
 * Ends the work of a transaction with a statement that is sent together with the commit. When both are done, `read`
 * computes the transaction's result from the statement's. By then it is too late to undo anything, so whatever
 * decides about the commit must be queried earlier, or be part of the statement.
 */
export function lastly<Row, T>(
  trx: Db,
  query: CompiledQuery<Row> | Compilable<Row>,
  read: (result: QueryResult<Row>) => T,
): Last<T> {
  return new Last(trx.executeQuery(query).then(read))
}

/**
 * Runs a transaction in as few round trips as possible. `begin` is sent with the first statement, statements that are
 * started without awaiting each other are sent together in their order, and the last one is sent with the commit if
 * `work` ends with `lastly`.
 */
export function runTransaction<T>(db: Db, work: (trx: Trx) => Promise<T | Last<T>>): Promise<T> {
  const executor = db.getExecutor()
  return executor.provideConnection(async (held) => {
    const connection = held as Connection
    let over = false
    const trx: Trx = new Transaction({
      config: { dialect },
      dialect,
      driver: new DummyDriver(),
      executor: executor.withConnectionProvider({
        provideConnection(consumer) {
          if (over) throw new Error('The transaction is over: what it begins must be awaited in it.')
          return consumer(connection)
        },
      }),
    })
    connection.begin('begin')
    try {
      const answer = await work(trx)
      over = true
      const committed = connection.commit()
      // The statement reports the error; after that, the commit was not even tried.
      committed.catch(() => {})
      const result = answer instanceof Last ? await answer.answer : answer
      await committed
      return result
    } catch (error) {
      over = true
      await connection.rollback()
      throw error
    }
  })
}

const dialect = { ...postgresParts, createDriver: () => new DummyDriver() }
