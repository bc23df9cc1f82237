import { EventEmitter } from 'node:events'
import { writeSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { recordOf } from '../../unknown-values.ts'
import type { EmbeddedOptions, Ended } from './embedded-thread.ts'
import { endedBecause } from './unopenable.ts'

export type EmbeddedServer = {
  /**
   * The option with which pg connects to it in place of a socket, of which it uses fewer parts than its types ask for.
   * There may be only one connection at a time, because the database is a single session.
   */
  connection: object
  /** Resolves to a tar archive of the data folder. */
  dump(): Promise<Blob>
  close(): Promise<void>
}

/** A server's response to a client that it accepts: authenticated, and ready for a query. */
const WELCOME = Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I', 'latin1')
const TERMINATE = 'X'.charCodeAt(0)
const ROLLBACK = Buffer.from('Q\0\0\0\x0drollback\0', 'latin1')

/** V8 takes 600 MB to optimise one function of the database, and turns are no faster for it. */
const NOT_OPTIMISED = ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering']

/** The exit code of a process whose database has ended (sysexits.h EX_UNAVAILABLE). */
const UNAVAILABLE = 69

/**
 * Starts the embedded database in a separate thread, so that a statement never blocks the rest of the service.
 * Resolves when it accepts statements. Rejects with DatabaseDamaged or StorageFull when its files cannot be used. If
 * the thread dies later, the process prints the reason and ends, because nothing would respond any more.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  for (const flag of NOT_OPTIMISED) setFlagsFromString(flag)
  const thread = new Worker(new URL('./embedded-thread.ts', import.meta.url), {
    workerData: options,
    execArgv: [],
  })
  await new Promise<void>((resolve, reject) => {
    thread.once('message', (first) =>
      isEnded(first) ? reject(endedError(first, options.folder)) : resolve(),
    )
    thread.once('error', reject)
    thread.once('exit', () => reject(new Error('The embedded database could not be opened.')))
  })
  thread.removeAllListeners('error').removeAllListeners('exit')
  const exchange = exchangeWith(thread)
  let stopping = false
  thread.on('message', (message) => {
    if (isEnded(message)) exitWith(endedError(message, options.folder))
  })
  // From here on, an error has no listener and ends the process.
  thread.on('exit', (code) => {
    if (!stopping) exitWith(new Error(`Its thread has ended (${code}).`))
  })
  thread.unref()
  return {
    connection: { stream: () => new EmbeddedSocket(exchange) },
    dump: () => new Promise((resolve) => exchange('dump', resolve)),
    async close() {
      if (stopping) return
      stopping = true
      const exited = new Promise((resolve) => thread.once('exit', resolve))
      thread.ref()
      thread.postMessage('close')
      await exited
    },
  }
}

const isEnded = (message: unknown): message is Ended => recordOf(message).reason !== undefined

function endedError({ reason, message, stack }: Ended, folder: string | undefined): Error {
  if (reason !== null && folder !== undefined) return endedBecause(folder, reason)
  return new Error(reason ?? (stack || message))
}

function exitWith({ message }: Error): never {
  writeSync(2, `The embedded database has stopped. ${message}\n`)
  process.exit(UNAVAILABLE)
}

type Exchange = {
  (message: 'dump', answered: (tar: Blob) => void): void
  (message: Uint8Array<ArrayBuffer>, answered: (answer: Uint8Array<ArrayBuffer>) => void): void
}

/**
 * Exchanges messages with the thread, which responds to each once, in order. The process is kept alive while a
 * response is due.
 */
function exchangeWith(thread: Worker): Exchange {
  const awaited: ((answer: Blob & Uint8Array<ArrayBuffer>) => void)[] = []
  thread.on('message', (answer) => {
    if (isEnded(answer)) return
    awaited.shift()?.(answer)
    if (awaited.length === 0) thread.unref()
  })
  return (message, answered) => {
    if (awaited.length === 0) thread.ref()
    awaited.push(answered)
    thread.postMessage(message, message === 'dump' ? [] : [message.buffer])
  }
}

/** The part of a socket that pg uses. Whatever is written while it is corked is sent to the thread as one message. */
class EmbeddedSocket extends EventEmitter {
  writable = true
  readonly #exchange: Exchange
  #welcomed = false
  #corked: Uint8Array[] | null = null

  constructor(exchange: Exchange) {
    super()
    this.#exchange = exchange
  }

  connect(): void {
    process.nextTick(() => this.emit('connect'))
  }

  write(bytes: Uint8Array, written?: () => void): boolean {
    if (!this.#welcomed) this.#welcome()
    else if (bytes[0] !== TERMINATE) {
      if (this.#corked) this.#corked.push(bytes)
      else this.#send([bytes])
    }
    written?.()
    return true
  }

  cork(): void {
    this.#corked = []
  }

  uncork(): void {
    const parts = this.#corked ?? []
    this.#corked = null
    if (parts.length > 0) this.#send(parts)
  }

  end(): void {
    this.destroy()
  }

  destroy(): void {
    if (!this.writable) return
    this.writable = false
    process.nextTick(() => this.emit('close'))
  }

  setNoDelay(): void {}
  setKeepAlive(): void {}
  ref(): void {}
  unref(): void {}

  /**
   * The first message is the client's startup message. A transaction that an earlier connection left open is rolled
   * back.
   */
  #welcome(): void {
    this.#welcomed = true
    this.#exchange(copyOf([ROLLBACK]), () => this.emit('data', WELCOME))
  }

  #send(parts: Uint8Array[]): void {
    this.#exchange(copyOf(parts), ({ buffer, byteOffset, byteLength }) => {
      if (this.writable) this.emit('data', Buffer.from(buffer, byteOffset, byteLength))
    })
  }
}

/** Copies the parts into separate memory, which is transferred to the thread. */
function copyOf(parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let offset = 0
  for (const part of parts) {
    whole.set(part, offset)
    offset += part.length
  }
  return whole
}
