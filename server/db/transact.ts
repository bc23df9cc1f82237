import { sql } from 'kysely'
import type { Db, Trx } from './database.ts'
import { Last, runTransaction } from './transaction.ts'

const TRIES = 4
/** A deadlock, or a row that could not be serialised: nothing was done, and a second try mostly gets through. */
const PASSING = new Set(['40P01', '40001'])

export const isPassing = (error: unknown): boolean => PASSING.has((error as { code?: string }).code ?? '')

type Afterwards = (db: Db) => unknown

/** Callbacks that run after the commit of a transaction begun by `transact`. */
const waiting = new WeakMap<Db, Afterwards[]>()

/**
 * Runs a short transaction, again when the database took it back because it and another one waited for each
 * other. `work` must do nothing outside the transaction but through afterCommit. Given a transaction, it joins that. See
 * runTransaction for what travels together.
 */
export async function transact<T>(db: Db, work: (trx: Trx) => Promise<T | Last<T>>): Promise<T> {
  if (db.isTransaction) {
    const answer = await work(db as Trx)
    return answer instanceof Last ? answer.answer : answer
  }
  const { result, afterwards } = await commit(db, work)
  for (const act of afterwards) await act(db)
  return result
}

async function commit<T>(db: Db, work: (trx: Trx) => Promise<T | Last<T>>) {
  for (let attempt = 1; ; attempt++) {
    const afterwards: Afterwards[] = []
    try {
      const result = await runTransaction(db, (trx) => {
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
 * Does what is outside the database, or needs a transaction of its own, once the transaction is committed and with
 * the plain database; never when it is rolled back. Outside of a transaction it is done at once.
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
