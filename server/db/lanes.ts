import { AsyncLocalStorage } from 'node:async_hooks'

const rank = new AsyncLocalStorage<'urgent' | 'bulk'>()

/** Runs work that nobody waits for: on the embedded database the statements of everybody else go before its own. */
export const asBulk = <T>(work: () => Promise<T>): Promise<T> => rank.run('bulk', work)

/**
 * Runs a short statement ahead of all others on the embedded database. It is only for statements that have a deadline and
 * are rate-limited by their caller, since nothing else keeps them from starving the rest.
 */
export const asUrgent = <T>(work: () => Promise<T>): Promise<T> => rank.run('urgent', work)

/** One turn in this many goes to bulk work, however much other work is waiting. */
const FOR_BULK = 16

/** A single connection, and who waits for it; see `createLanes`. */
export type Lanes = { enter(): Promise<void>; leave(): void }

/** Shares one connection: bulk work yields to other work, and queues again for each of its transactions. */
export function createLanes(): Lanes {
  const urgent: (() => void)[] = []
  const first: (() => void)[] = []
  const last: (() => void)[] = []
  const laneOf = () => ({ urgent, bulk: last, other: first })[rank.getStore() ?? 'other']
  let taken = false
  let passed = 0
  return {
    async enter() {
      if (taken) await new Promise<void>((resolve) => laneOf().push(resolve))
      taken = true
    },
    leave() {
      const hurried = urgent.shift()
      if (hurried) return hurried()
      const isBulks = last.length > 0 && (first.length === 0 || passed >= FOR_BULK)
      passed = isBulks || last.length === 0 ? 0 : passed + 1
      const next = (isBulks ? last : first).shift()
      // The connection stays taken when it passes to the next waiter.
      if (next) next()
      else taken = false
    },
  }
}
