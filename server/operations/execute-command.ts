import { setTimeout as wait } from 'node:timers/promises'
import type { Config } from '../config.ts'
import { FolderInUse } from '../db/folder-lock.ts'
import type { Command, Input, Result } from './command.ts'
import { askService } from './command-socket.ts'
import { openOperations } from './open-operations.ts'

const PATIENCE_MS = 10_000

/**
 * Runs a command where the data is: on PostgreSQL here; on the embedded database inside the running service,
 * or here under the folder's lock. Throws CommandFailure, FolderInUse and what opening a database throws.
 */
export async function executeCommand(config: Config, command: Command, input: Input): Promise<Result> {
  if (config.databaseUrl) return runHere(config, command, input)
  const until = Date.now() + PATIENCE_MS
  for (;;) {
    const answer = await askService(config.dataDir, command.name, input)
    if (answer) return answer
    try {
      return await runHere(config, command, input)
    } catch (error) {
      // Held by another command, or by a service that is starting or ending: it answers or lets go soon.
      if (!(error instanceof FolderInUse) || Date.now() > until) throw error
      await wait(100)
    }
  }
}

async function runHere(config: Config, command: Command, input: Input): Promise<Result> {
  const operations = await openOperations(config)
  try {
    return await command.run(operations, input)
  } finally {
    await operations.close()
  }
}
