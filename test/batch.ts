import { setPriority } from 'node:os'
import { suite } from 'node:test'
import { pathToFileURL } from 'node:url'
import { endLater } from './must-end.ts'

// Threads inherit the priority of the thread that starts them.
setPriority(Number(process.env.TEST_NICENESS ?? 0))

/**
 * Runs the given test files one after another in this process. Starting a process and loading the service takes
 * longer than most files do.
 */
for (const file of process.argv.slice(2)) {
  await suite(file, async () => {
    await import(pathToFileURL(file).href)
  })
}

endLater()
// All results are reported by now. Exiting explicitly works around Node sometimes looping forever while it closes
// handles that are still open.
process.on('exit', (code) => process.exit(code))
