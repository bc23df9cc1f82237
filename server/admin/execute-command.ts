import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Config } from '../config.ts'
import { FolderInUse } from '../platform/db/embedded/folder-lock.ts'
import { type Command, CommandFailure, type Input, type LocalCommand, type Result } from './command.ts'
import { askService } from './command-socket.ts'
import { openOperations } from './open-operations.ts'

/** A slow machine needs half a minute to start the service. */
const PATIENCE_MS = 90_000
const SILENCE_MS = 2_000

/**
 * Runs a command where the data is: with PostgreSQL in this process; with the embedded database inside the running
 * service, or in this process while holding the folder's lock. Reports when it has to wait for that. Throws
 * CommandFailure, FolderInUse, and the errors of opening a database.
 */
export async function executeCommand(
  config: Config,
  command: Command | LocalCommand,
  input: Input,
  say: (line: string) => void,
): Promise<Result> {
  if ('runHere' in command) return command.runHere(config, input, say)
  if (config.databaseUrl) return runHere(config, command, input, say)
  const begun = performance.now()
  let silent = true
  for (;;) {
    const answer = await askService(config.dataDir, command.name, input)
    if (answer) return answer
    try {
      return await runHere(config, command, input, say)
    } catch (error) {
      // The lock is held by another command, or by a service that is starting or stopping. It will soon respond or
      // release the lock.
      const waited = performance.now() - begun
      if (!(error instanceof FolderInUse) || waited > PATIENCE_MS) throw error
      if (silent && waited > SILENCE_MS) {
        say(
          'Waiting for the process that holds the data folder: a service that is starting or stopping, or another command.',
        )
        silent = false
      }
      await wait(100)
    }
  }
}

async function runHere(
  config: Config,
  command: Command,
  input: Input,
  say: (line: string) => void,
): Promise<Result> {
  if (command.withoutUpgrade && !config.databaseUrl && !existsSync(join(config.dataDir, 'database')))
    throw new CommandFailure(`There is no database in ${config.dataDir}: nothing to upgrade.`)
  const operations = await openOperations(config, command, say)
  try {
    return await command.run(operations, input)
  } finally {
    await operations.close()
  }
}
