import { after } from 'node:test'

/** Closing what a test file has opened takes less than this, even on a busy machine. */
const PATIENCE_MS = 60_000

let isSeenTo = false

/**
 * Ends the process of a test file some time after its last test, and says what was left open, which would keep it from
 * ending for ever. That happens when something that is closed last stays open because closing the first thing failed.
 */
export function mustEnd(): void {
  // Benches and scripts use the helpers of the tests, too.
  if (isSeenTo || process.env.NODE_TEST_CONTEXT === undefined) return
  isSeenTo = true
  after(() => {
    setTimeout(() => {
      process.stderr.write(`All tests have ended, but this is open: ${process.getActiveResourcesInfo()}\n`)
      process.exit(1)
    }, PATIENCE_MS).unref()
  })
}
