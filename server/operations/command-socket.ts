import { chmod, rm } from 'node:fs/promises'
import { createConnection, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Context } from '../context.ts'
import { resumeTraining } from '../knowledge/tasks.ts'
import { CommandFailure, type Input, type Operations, type Result } from './command.ts'
import { commands } from './commands.ts'

type Request = { command: string; input: Input }
type Response = { result: Result } | { failure: { message: string; exitCode: 1 | 64 | 69 } }

/** What an address of a socket may have; a longer one is cut off silently by the system. */
const LONGEST_PATH = 103

const socketPath = (dataDir: string): string => join(dataDir, 'parley.sock')

/**
 * Lets commands work while the service holds the embedded database: one JSON line in, one out. Only the owner
 * of the data folder can open the socket.
 */
export async function openCommandSocket(ctx: Context): Promise<{ close(): Promise<void> } | null> {
  const path = socketPath(ctx.config.dataDir)
  if (Buffer.byteLength(path) > LONGEST_PATH) {
    ctx.log.warn(`DATA_DIR is too long a path for a socket: commands work only while the service is stopped.`)
    return null
  }
  const operations: Operations = {
    db: ctx.db,
    filesDir: ctx.filesDir,
    setMaintenance: ctx.maintenance.set,
    resume: async () => void (await resumeTraining(ctx)),
  }
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {})
    answer(socket, operations).catch((error: unknown) => ctx.log.error({ err: error }, 'command'))
  })
  // The folder's lock is ours: a socket that is there belongs to a process that was killed.
  await rm(path, { force: true })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve))
  await chmod(path, 0o600)
  return {
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

async function answer(socket: Socket, operations: Operations): Promise<void> {
  const { command, input } = JSON.parse(await textOf(socket)) as Request
  socket.end(JSON.stringify(await execute(operations, command, input)))
}

async function execute(operations: Operations, name: string, input: Input): Promise<Response> {
  try {
    const command = commands.find((one) => one.name === name)
    if (!command) throw new CommandFailure(`The running service does not know the command ${name}.`, 64)
    return { result: await command.run(operations, input) }
  } catch (error) {
    const exitCode = error instanceof CommandFailure ? error.exitCode : 1
    return { failure: { message: (error as Error).message, exitCode } }
  }
}

/** Has the running service execute a command; null when none runs on this folder. Throws CommandFailure. */
export async function askService(dataDir: string, command: string, input: Input): Promise<Result | null> {
  const path = socketPath(dataDir)
  if (Buffer.byteLength(path) > LONGEST_PATH) return null
  const socket = createConnection({ path, allowHalfOpen: true })
  try {
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  } catch {
    return null
  }
  socket.end(JSON.stringify({ command, input } satisfies Request))
  const text = await textOf(socket)
  if (text === '') throw new CommandFailure('The service ended before it had answered.', 69)
  const response = JSON.parse(text) as Response
  if ('failure' in response) throw new CommandFailure(response.failure.message, response.failure.exitCode)
  return response.result
}

async function textOf(socket: Socket): Promise<string> {
  socket.setEncoding('utf8')
  let text = ''
  for await (const piece of socket) text += piece
  return text
}
