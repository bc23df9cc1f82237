/** The largest file that people may send each other: mail servers take no more. */
export const LARGEST_BYTES = 25 * 1024 * 1024
