import { ConfigError, readConfig } from './config.ts'
import { createContext } from './context.ts'
import { requireFolder } from './platform/db/embedded/folder-lock.ts'
import { keepFolderToOwner } from './platform/db/embedded/owner-only.ts'
import { describeError } from './platform/log.ts'
import { startRefusal } from './platform/start-refusal.ts'
import { VERSION } from './platform/version.ts'
import { run } from './run.ts'

/** What is created belongs to the user of the service alone. */
const OWNER_ONLY = 0o077

/** Starts the service: `node server/main.ts [api|worker]`; without an argument it is both. `--version` prints the version. */
process.umask(OWNER_ONLY)
try {
  if (process.argv[2] === '--version') {
    console.log(VERSION)
    process.exit(0)
  }
  const role = process.argv[2] ?? 'all'
  if (role !== 'api' && role !== 'worker' && role !== 'all') {
    throw new ConfigError([`The role "${role}" does not exist: use api, worker, or none for both.`])
  }
  const config = readConfig(process.env)
  if (role !== 'all' && !config.databaseUrl) {
    throw new ConfigError([
      `The role "${role}" needs DATABASE_URL: the embedded database is for one process.`,
    ])
  }
  requireFolder(config.dataDir)
  keepFolderToOwner(config.dataDir)
  await run(await createContext(config), role)
} catch (error) {
  if (error instanceof ConfigError) {
    for (const line of error.problems) console.error(line)
    process.exit(78)
  }
  const refusal = startRefusal(error)
  console.error(refusal?.line ?? describeError(error))
  process.exit(refusal?.code ?? 1)
}
