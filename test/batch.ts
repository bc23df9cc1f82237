import { suite } from 'node:test'
import { pathToFileURL } from 'node:url'

/**
 * Runs the test files that are named one after another in this process. Starting a process and loading the service costs
 * more than most files do.
 */
for (const file of process.argv.slice(2)) {
  await suite(file, async () => {
    await import(pathToFileURL(file).href)
  })
}

// Everything is reported by then. Node has been seen to spin for ever while it closed the handles that were still open.
process.on('exit', (code) => process.exit(code))
