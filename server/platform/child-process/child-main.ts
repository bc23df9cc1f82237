import dgram from 'node:dgram'
import net from 'node:net'
import { messageOf } from '../unknown-values.ts'
import { frameOf, readFrames } from './frames.ts'

/** What a module that runs in a child exports. It returns the result for one input in any number of pieces. */
export type Work = (input: never) => AsyncIterable<unknown>

/** `module` is the URL of a module that exports a Work as `work`; without an input it is only loaded. */
export type Task = { module: string; input: unknown }
export type WarmUp = { module: string }

/** What the child process writes to the service. */
export type ChildMessage =
  | { ready: true }
  | { loaded: true }
  | { piece: unknown }
  | { done: true }
  | { threw: string }

const MAX_ORDER_SIZE = 256 * 1_048_576

// Parsers print warnings, but standard output carries the results.
const write = process.stdout.write.bind(process.stdout)
process.stdout.write = () => true

// The operating system denies network access where it can. This covers the other systems.
const refused = (): never => {
  throw new Error('There is no network in this process.')
}
net.Socket.prototype.connect = refused
dgram.createSocket = refused
globalThis.fetch = refused

const send = async (message: ChildMessage): Promise<void> => {
  if (!write(frameOf(message))) await new Promise((resolve) => process.stdout.once('drain', resolve))
}

async function follow(order: Task | WarmUp): Promise<void> {
  try {
    const { work }: { work: (input: unknown) => AsyncIterable<unknown> } = await import(order.module)
    if (!('input' in order)) return await send({ loaded: true })
    for await (const piece of work(order.input)) await send({ piece })
    await send({ done: true })
  } catch (error) {
    await send({ threw: messageOf(error).slice(0, 1_000) })
  }
}

const orders = readFrames<Task | WarmUp>(MAX_ORDER_SIZE, (order) => void follow(order))
process.stdin.on('data', (bytes: Buffer) => orders.push(bytes))
// The service has ended, or closes this process.
process.stdin.on('end', () => process.exit())
await send({ ready: true })
