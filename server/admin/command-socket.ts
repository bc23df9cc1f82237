import { closeSync, existsSync, openSync } from 'node:fs'
import { chmod, rm } from 'node:fs/promises'
import { createConnection, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Context } from '../context.ts'
import { stopGeneration } from '../conversations/turn/generations.ts'
import { resumeTraining } from '../knowledge/jobs.ts'
import { tendSpaces } from '../knowledge/vectors/fill-space.ts'
import { originOf } from '../platform/http/server/own-origin.ts'
import { CommandFailure, type Input, type Operations, type Result, sentenceOf } from './command.ts'
import { secretOperations } from './commands/secret-operations.ts'
import { commands } from './commands.ts'

type Request = { command: string; input: Input }
type Response = { result: Result } | { failure: { message: string; exitCode: 1 | 64 | 69 } }

/** The maximum length of a socket's path in bytes; the system truncates a longer one silently. */
const MAX_PATH_LENGTH = 103
const NAME = 'parley.sock'
/** How a service of any version begins its response to an unknown command. */
const UNKNOWN = 'The running service does not know the command'

type Address = { path: string; release(): void }

/**
 * Returns the path of the socket. On Linux, a folder with a longer path is reached through its file descriptor;
 * elsewhere the result is null.
 */
function addressIn(dataDir: string): Address | null {
  const path = join(dataDir, NAME)
  if (Buffer.byteLength(path) <= MAX_PATH_LENGTH) return { path, release: () => {} }
  if (!existsSync('/proc/self/fd') || !existsSync(dataDir)) return null
  const folder = openSync(dataDir, 'r')
  return { path: `/proc/self/fd/${folder}/${NAME}`, release: () => closeSync(folder) }
}

/**
 * Lets commands work while the service holds the embedded database. A client sends one JSON text and receives one. Only
 * the owner of the data folder can open the socket. Closing waits for running commands.
 */
export async function openCommandSocket(
  ctx: Pick<
    Context,
    | 'config'
    | 'db'
    | 'embedded'
    | 'filesDir'
    | 'generations'
    | 'jobs'
    | 'knowledge'
    | 'log'
    | 'maintenance'
    | 'models'
    | 'notifier'
    | 'orphans'
    | 'secrets'
  >,
): Promise<{ close(): Promise<void> } | null> {
  const address = addressIn(ctx.config.dataDir)
  if (!address) {
    ctx.log.warn(
      'the path in DATA_DIR is too long for a socket; commands work only while the service is stopped',
    )
    return null
  }
  const operations: Operations = {
    db: ctx.db,
    embedded: ctx.embedded,
    dataDir: ctx.config.dataDir,
    filesDir: ctx.filesDir,
    origin: originOf(ctx.config),
    isServed: async () => true,
    secrets: secretOperations({
      db: ctx.db,
      embedded: ctx.embedded,
      config: ctx.config,
      openSecrets: async () => ctx.secrets,
    }),
    setMaintenance: ctx.maintenance.set,
    openKnowledge: () => ctx.knowledge,
    openModels: () => ({ catalogue: ctx.config.catalogue, models: ctx.models }),
    erasing: {
      jobs: ctx.jobs,
      stop: (accountId, conversationId) => stopGeneration(ctx, accountId, conversationId),
    },
    resume: async () => {
      await resumeTraining(ctx)
      await tendSpaces(ctx)
    },
  }
  const asking = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {})
    asking.add(socket)
    textOf(socket)
      .then(async (text) => {
        const { command, input }: Request = JSON.parse(text)
        asking.delete(socket)
        socket.end(JSON.stringify(await execute(operations, command, input, ctx.log)))
      })
      .catch(() => socket.destroy())
      .finally(() => asking.delete(socket))
  })
  // We hold the lock of the folder, so an existing socket belongs to a process that was killed.
  await rm(join(ctx.config.dataDir, NAME), { force: true })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(address.path, resolve))
  await chmod(address.path, 0o600)
  return {
    async close() {
      for (const socket of asking) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
      address.release()
    },
  }
}

async function execute(
  operations: Operations,
  name: string,
  input: Input,
  log: Context['log'],
): Promise<Response> {
  try {
    const command = commands.find((one) => one.name === name)
    if (!command) throw new CommandFailure(`${UNKNOWN} ${name}.`, 64)
    return { result: await command.run(operations, input) }
  } catch (error) {
    if (error instanceof CommandFailure)
      return { failure: { message: error.message, exitCode: error.exitCode } }
    log.error({ err: error, command: name }, 'command failed')
    return { failure: { message: sentenceOf(error), exitCode: 1 } }
  }
}

/**
 * Has the running service execute a command. Returns null when none is running on this folder. Throws CommandFailure.
 */
export async function askService(dataDir: string, command: string, input: Input): Promise<Result | null> {
  const address = addressIn(dataDir)
  if (!address) return null
  const socket = createConnection({ path: address.path, allowHalfOpen: true })
  try {
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  } catch {
    return null
  } finally {
    address.release()
  }
  socket.end(JSON.stringify({ command, input } satisfies Request))
  const text = await textOf(socket).catch(() => '')
  if (text === '') throw new CommandFailure('The service stopped before it responded.', 69)
  const response: Response = JSON.parse(text)
  if (!('failure' in response)) return response.result
  const { message, exitCode } = response.failure
  if (message.startsWith(UNKNOWN))
    throw new CommandFailure(`${message} It is of another version. Stop it, then run the command again.`, 69)
  throw new CommandFailure(message, exitCode)
}

async function textOf(socket: Socket): Promise<string> {
  socket.setEncoding('utf8')
  let text = ''
  for await (const piece of socket) text += piece
  return text
}
