const DAY_MS = 86_400_000

/** Returns the UTC date `days` days ago as YYYY-MM-DD; 0 means today. */
export const daysAgo = (days: number): string =>
  new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)
