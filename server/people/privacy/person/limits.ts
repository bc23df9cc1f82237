/** The longest time that conversations or leads can be kept before they are deleted, in days. */
export const MAX_DAYS = 3_650
