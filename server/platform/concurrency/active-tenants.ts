/** A tenant counts as active for this long after it was last noted, in milliseconds. */
const ACTIVE_MS = 250

/** Tells whether other tenants than a given one are active; see `createActiveTenants`. */
type ActiveTenants = {
  note(tenant: string): void
  /** Returns whether a tenant other than this one is active. */
  areOthersActive(tenant: string): boolean
}

/** Remembers the two tenants that were noted last, which is all that `areOthersActive` needs. */
export function createActiveTenants(now: () => number): ActiveTenants {
  let newest = { tenant: '', at: Number.NEGATIVE_INFINITY }
  /** The latest one before it that is another tenant. */
  let other = newest
  return {
    note(tenant) {
      if (newest.tenant !== tenant) other = newest
      newest = { tenant, at: now() }
    },
    areOthersActive(tenant) {
      const { at } = newest.tenant === tenant ? other : newest
      return now() - at < ACTIVE_MS
    },
  }
}
