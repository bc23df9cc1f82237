import { ConfigError, readConfig } from './config.ts'
import { createContext } from './context.ts'
import { run } from './run.ts'
import { startRefusal } from './start-refusal.ts'

/** Starts the service: `node server/main.ts [api|worker]`; without an argument it is both. */
try {
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
  await run(await createContext(config), role)
} catch (error) {
  const { lines, code } = startRefusal(error)
  for (const line of lines) console.error(line)
  process.exit(code)
}
