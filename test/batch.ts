import { suite } from 'node:test'
import { pathToFileURL } from 'node:url'
import { mustEnd } from './must-end.ts'

// Called here, this is about the whole process; a test file would call it for itself alone.
mustEnd()

/**
 * Runs the given test files one after another in this process. Starting a process and loading the service takes
 * longer than most files do.
 */
for (const file of process.argv.slice(2)) {
  await suite(file, async () => {
    await import(pathToFileURL(file).href)
  })
}

// All results are reported by now. Exiting explicitly works around Node sometimes looping forever while it closes
// handles that are still open.
process.on('exit', (code) => process.exit(code))
