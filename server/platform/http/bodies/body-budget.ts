/** Limits the bytes of request bodies that this process holds, in total and for each tenant. */
export type BodyBudget = {
  /** Charges bytes to the tenant. Returns false when the budget or the tenant's share does not allow it. */
  take(tenant: string, bytes: number): boolean
  give(tenant: string, bytes: number): void
}

/**
 * The budgets for bodies. In memory, accounts and addresses without a valid key have separate budgets, so that
 * clients without a key cannot use up the memory meant for those with one. `spooled` is for bodies on disk, which are
 * charged to addresses.
 */
export type BodyBudgets = { accounts: BodyBudget; addresses: BodyBudget; spooled: BodyBudget }

const MB = 1_048_576

/** Creates the budgets of a process. A parsed body takes several times its size in memory. */
export const createBodyBudgets = (): BodyBudgets => ({
  accounts: createBodyBudget(96 * MB, 32 * MB),
  addresses: createBodyBudget(96 * MB, 48 * MB),
  spooled: createBodyBudget(1_024 * MB, 256 * MB),
})

/** Creates a budget of `total` bytes, of which one tenant can have `share`. */
function createBodyBudget(total: number, share: number): BodyBudget {
  const ofTenant = new Map<string, number>()
  let used = 0
  return {
    take(tenant, bytes) {
      const has = ofTenant.get(tenant) ?? 0
      if (used + bytes > total || has + bytes > share) return false
      used += bytes
      ofTenant.set(tenant, has + bytes)
      return true
    },
    give(tenant, bytes) {
      used -= bytes
      const left = (ofTenant.get(tenant) ?? 0) - bytes
      if (left > 0) ofTenant.set(tenant, left)
      else ofTenant.delete(tenant)
    },
  }
}
