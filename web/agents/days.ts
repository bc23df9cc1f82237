const DAY_MS = 86_400_000

/** A UTC day as the service counts them; 0: today. */
export const daysAgo = (days: number): string =>
  new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)
