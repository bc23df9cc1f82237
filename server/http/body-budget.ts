/** How many bytes of request bodies this process holds, and for whom; see `createBodyBudget`. */
export type BodyBudget = {
  /** Takes room for so many bytes of the holder; false when there is none. */
  take(holder: string, bytes: number): boolean
  give(holder: string, bytes: number): void
}

/**
 * In memory, those of accounts and those of addresses that show no key: whoever has no key takes nothing from those who
 * do. On the disk, those of addresses.
 */
export type BodyBudgets = { accounts: BodyBudget; addresses: BodyBudget; spooled: BodyBudget }

const MB = 1_048_576

/** Parsed, a body takes several times its bytes. */
export const createBodyBudgets = (): BodyBudgets => ({
  accounts: createBodyBudget(96 * MB, 32 * MB),
  addresses: createBodyBudget(96 * MB, 48 * MB),
  spooled: createBodyBudget(1_024 * MB, 256 * MB),
})

/** One budget for many holders, none of whom gets more than a share. */
function createBodyBudget(total: number, share: number): BodyBudget {
  const ofHolder = new Map<string, number>()
  let used = 0
  return {
    take(holder, bytes) {
      const has = ofHolder.get(holder) ?? 0
      if (used + bytes > total || has + bytes > share) return false
      used += bytes
      ofHolder.set(holder, has + bytes)
      return true
    },
    give(holder, bytes) {
      used -= bytes
      const left = (ofHolder.get(holder) ?? 0) - bytes
      if (left > 0) ofHolder.set(holder, left)
      else ofHolder.delete(holder)
    },
  }
}
