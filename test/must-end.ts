import { after } from 'node:test'

/** Closing what a test file has opened takes less than this, even on a busy machine. */
const PATIENCE_MS = 60_000

/**
 * Ends the process some time after this call, and says what was left open, which would keep it from ending for ever.
 * That happens when something that is closed last stays open because closing the first thing failed.
 */
export function endLater(): void {
  setTimeout(() => {
    process.stderr.write(`All tests have ended, but this is open: ${process.getActiveResourcesInfo()}\n`)
    process.exit(1)
  }, PATIENCE_MS).unref()
}

let isSeenTo = false

/**
 * Does so after the last test of a file that has a process of its own. Where one program runs several files, the hook
 * would run after the first file, and the program sees to its end itself.
 */
export function mustEnd(): void {
  // Benches and scripts use the helpers of the tests, too.
  const isTest = process.env.NODE_TEST_CONTEXT !== undefined && !process.argv[1]?.endsWith('.test.mjs')
  if (isSeenTo || !isTest) return
  isSeenTo = true
  after(endLater)
}
