/** The limits of a password's length, in characters. */
export const SHORTEST_PASSWORD = 12
export const LONGEST_PASSWORD = 128
