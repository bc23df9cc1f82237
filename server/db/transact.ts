import type { Db, Trx } from './database.ts'

const TRIES = 4
/** A deadlock, or a row that could not be serialised: nothing was done, and a second try mostly gets through. */
const PASSING = new Set(['40P01', '40001'])

export const isPassing = (error: unknown): boolean => PASSING.has((error as { code?: string }).code ?? '')

/**
 * Runs a short transaction, again when the database took it back because it and another one waited for each
 * other. `work` must do nothing outside the transaction.
 */
export async function transact<T>(db: Db, work: (trx: Trx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction().execute(work)
    } catch (error) {
      if (!isPassing(error) || attempt === TRIES) throw error
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * 2 ** attempt))
    }
  }
}
