/** The largest file that people may send each other, in bytes; mail servers accept no more. */
export const LARGEST_BYTES = 25 * 1024 * 1024
