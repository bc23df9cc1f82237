import { parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { messageOf, recordOf } from '../../unknown-values.ts'
import { reasonIn } from './unopenable.ts'

/**
 * The options of the embedded database; without a folder it is in memory. `module` is its compiled program, for
 * processes that open many databases.
 */
export type EmbeddedOptions = { folder?: string; snapshot?: Blob; module?: WebAssembly.Module }

/** The last message of a database that ends. `reason` is what the database printed about it, or null. */
export type Ended = { reason: string | null; message: string; stack: string }

/** The thread's end of `startEmbedded`: receives messages of PostgreSQL's protocol and posts the responses. */
if (!parentPort) throw new Error('The embedded database runs in a thread of its own.')
const port = parentPort

/** Plans are made for the sizes that tables had at the time, and nothing else invalidates them as tables grow. */
const PLANS_LAST_MS = 10_000
/** The value that the database throws to return to its main loop after an error in a statement. */
const BACK_TO_LOOP = 100

const DISCARD_PLANS = Buffer.from('Q\0\0\0\x12discard plans\0')

/** The last lines that the database has printed, which tell why it ended. */
const printed: string[] = []
const LINES_KEPT = 20

const { folder, snapshot, module }: EmbeddedOptions = workerData
const pglite = await PGlite.create({
  extensions: { vector },
  ...(folder ? { dataDir: folder } : {}),
  ...(snapshot ? { loadDataDir: snapshot } : {}),
  ...(module ? { pgliteWasmModule: module } : {}),
  // Otherwise, it touches all of its 128 MB at start. The operating system caches the files anyway.
  startParams: [...PGlite.defaultStartParams, '-c', 'shared_buffers=24MB'],
  onStderr: keepLine,
}).catch(end)
keepFilesToOwner()
stopOnPanic()

let answer: Uint8Array<ArrayBuffer>[] = []
let plansSince = performance.now()

port.on('message', (message: Uint8Array | 'dump' | 'close') => {
  if (message === 'dump') void pglite.dumpDataDir('none').then((tar) => port.postMessage(tar))
  else if (message === 'close') void pglite.close().finally(() => process.exit())
  else run(message)
})
port.postMessage('ready')

function run(statements: Uint8Array): void {
  if (performance.now() - plansSince > PLANS_LAST_MS) {
    exchange(DISCARD_PLANS)
    plansSince = performance.now()
  }
  const answered = joined(exchange(statements))
  port.postMessage(answered, [answered.buffer])
}

/** Completes before it returns: the call is only asynchronous for file systems that Node does not use. */
function exchange(statements: Uint8Array): Uint8Array<ArrayBuffer>[] {
  answer = []
  void pglite.execProtocolRawStream(statements, { syncToFs: false, onRawData })
  return answer
}

function onRawData(part: Uint8Array): void {
  // The part is a view of the database's own memory, so it has to be copied.
  answer.push(part.slice())
}

function joined(parts: Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> {
  const [first, ...others] = parts
  if (first && others.length === 0) return first
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let offset = 0
  for (const part of parts) {
    all.set(part, offset)
    offset += part.length
  }
  return all
}

function keepLine(line: string): boolean {
  printed.push(line)
  if (printed.length > LINES_KEPT) printed.shift()
  return true
}

/** PGlite gives new files the mode 0666, whatever the umask. This removes the permissions of other users. */
function keepFilesToOwner(): void {
  const { chmod } = pglite.Module.FS
  Object.assign(pglite.Module.FS, {
    chmod: (node: string, mode: number, link?: boolean) => chmod(node, mode & 0o700, link),
  })
}

/** PGlite continues after anything that is thrown. After a panic or a trap, it would hang or return wrong results. */
function stopOnPanic(): void {
  const program = pglite.Module
  const loopOnce = program._PostgresMainLoopOnce
  program._PostgresMainLoopOnce = () => {
    try {
      loopOnce()
    } catch (error) {
      if (recordOf(error).status === BACK_TO_LOOP) throw error
      end(error)
    }
  }
}

function end(error: unknown): never {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  port.postMessage({ reason: reasonIn(printed), message: messageOf(error), stack } satisfies Ended)
  process.exit(1)
}
