/** The largest file that people may send each other, in bytes; mail servers accept no more. */
export const MAX_BYTES = 25 * 1024 * 1024
