import { violates } from '../../platform/db/connections/database-errors.ts'

/** Adds up what is used, and stores it. */
type Meter<Key, Counted> = {
  note(key: Key, counted: Counted): void
  /** Resolves when everything noted is stored. What is noted later is not counted: nothing can store it. */
  close(): Promise<void>
}

/** Every question would otherwise change the same row. What a killed process has not stored is not counted. */
const EVERY_MS = 2_000

type Storing<Key, Counted> = {
  sum(one: Counted, other: Counted): Counted
  store(key: Key, counted: Counted): Promise<void>
  /** The constraint that is violated when the account has been deleted. */
  account: string
  onError(error: unknown): void
}

export function createMeter<Key extends readonly unknown[], Counted>({
  sum,
  store: storeOne,
  account,
  onError,
}: Storing<Key, Counted>): Meter<Key, Counted> {
  let noted = new Map<string, { key: Key; counted: Counted }>()
  let storing: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  const add = (key: Key, counted: Counted): void => {
    const name = JSON.stringify(key)
    const before = noted.get(name)
    noted.set(name, { key, counted: before ? sum(before.counted, counted) : counted })
  }
  const store = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    const some = noted
    noted = new Map()
    // Several processes change the same rows in the same order.
    for (const [, { key, counted }] of [...some].sort(([a], [b]) => (a < b ? -1 : 1))) {
      try {
        await storeOne(key, counted)
      } catch (error) {
        if (violates(error, account)) continue
        add(key, counted)
        onError(error)
      }
    }
  }
  return {
    note(key, counted) {
      if (isClosed) return
      add(key, counted)
      timer ??= setTimeout(() => {
        storing = storing.then(store)
      }, EVERY_MS).unref()
    },
    close() {
      isClosed = true
      return storing.then(store)
    },
  }
}
