/** A holder counts as active for this long after it was last noted, in milliseconds. */
const ACTIVE_MS = 250

/** Tells whether other holders than a given one are active; see `createActiveHolders`. */
type ActiveHolders = {
  note(holder: string): void
  /** Returns whether a holder other than this one is active. */
  areOthersActive(holder: string): boolean
}

/** Remembers the two holders that were noted last, which is all that `areOthersActive` needs. */
export function createActiveHolders(now: () => number): ActiveHolders {
  let newest = { holder: '', at: Number.NEGATIVE_INFINITY }
  /** The latest one before it that is another holder. */
  let other = newest
  return {
    note(holder) {
      if (newest.holder !== holder) other = newest
      newest = { holder, at: now() }
    },
    areOthersActive(holder) {
      const { at } = newest.holder === holder ? other : newest
      return now() - at < ACTIVE_MS
    },
  }
}
