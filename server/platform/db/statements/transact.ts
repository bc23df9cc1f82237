import { sql } from 'kysely'
import { codeOf } from '../../unknown-values.ts'
import { isStale } from '../connections/database-errors.ts'
import type { Db, Trx } from '../database.ts'

const TRIES = 4
/** The codes of a deadlock and of a serialisation failure. Nothing was done, and a retry mostly succeeds. */
const PASSING = new Set(['40P01', '40001'])

/** Whether the database ran nothing, for a reason that mostly does not hold for a retry. */
export const isPassing = (error: unknown): boolean => PASSING.has(codeOf(error) ?? '') || isStale(error)

type Afterwards = (db: Db) => unknown

/** Callbacks that run after the commit of a transaction begun by `transact`. */
const waiting = new WeakMap<Db, Afterwards[]>()

/**
 * Runs a short transaction, and retries it when the database rolled it back because of a deadlock, a serialisation
 * failure or a statement that has to be prepared again. `work` must have no effects outside the transaction except
 * through afterCommit. If `db` is a transaction already, `work` joins it.
 */
export async function transact<T>(db: Db, work: (trx: Trx) => Promise<T>): Promise<T> {
  if (db.isTransaction) return work(db as Trx)
  const { result, afterwards } = await commit(db, work)
  for (const act of afterwards) await act(db)
  return result
}

async function commit<T>(db: Db, work: (trx: Trx) => Promise<T>) {
  for (let attempt = 1; ; attempt++) {
    const afterwards: Afterwards[] = []
    try {
      const result = await db.transaction().execute((trx) => {
        waiting.set(trx, afterwards)
        return work(trx)
      })
      return { result, afterwards }
    } catch (error) {
      if (!isPassing(error) || attempt === TRIES) throw error
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * 2 ** attempt))
    }
  }
}

/**
 * Runs `act` with the plain database once the transaction is committed, for effects outside the database or in a
 * transaction of their own; never after a rollback. Outside of a transaction it runs at once. It must not throw: the
 * caller would take what is committed for failed.
 */
export async function afterCommit(db: Db, act: Afterwards): Promise<void> {
  const afterwards = waiting.get(db)
  if (afterwards) afterwards.push(act)
  else await act(db)
}

/**
 * Runs a step whose error the caller handles. Inside a transaction, the changes of the failed step are rolled back
 * before it throws.
 */
export async function attempt<T>(db: Db, step: () => Promise<T>): Promise<T> {
  if (!db.isTransaction) return step()
  await sql`savepoint attempt`.execute(db)
  try {
    const result = await step()
    await sql`release savepoint attempt`.execute(db)
    return result
  } catch (error) {
    await sql`rollback to savepoint attempt`.execute(db)
    throw error
  }
}
