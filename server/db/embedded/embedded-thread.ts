import { writeSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'

/** What the embedded database is opened with; without a folder it is in memory. */
export type EmbeddedOptions = { folder?: string; snapshot?: Blob }

/** The end of a thread of `startEmbedded`: takes messages of PostgreSQL's protocol and answers with its answers. */
if (!parentPort) throw new Error('The embedded database runs in a thread of its own.')
const port = parentPort

/** Plans are made for the sizes that tables had; nothing else makes them anew while tables grow. */
const PLANS_LAST_MS = 10_000
/** What the database throws to get back to its loop after an error in a statement. */
const BACK_TO_LOOP = 100

const DISCARD_PLANS = Buffer.from('Q\0\0\0\x12discard plans\0')

const { folder, snapshot }: EmbeddedOptions = workerData
const pglite = await PGlite.create({
  ...(folder ? { dataDir: folder } : {}),
  ...(snapshot ? { loadDataDir: snapshot } : {}),
  // It touches all of its 128 MB at start otherwise; the operating system keeps the files in memory anyway.
  startParams: [...PGlite.defaultStartParams, '-c', 'shared_buffers=24MB'],
})
stopOnPanic()

let answer: Uint8Array[] = []
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
  port.postMessage(answered, [answered.buffer as ArrayBuffer])
}

/** Works to its end before it returns: it is asynchronous for file systems that Node has no need of. */
function exchange(statements: Uint8Array): Uint8Array[] {
  answer = []
  void pglite.execProtocolRawStream(statements, { syncToFs: false, onRawData })
  return answer
}

function onRawData(part: Uint8Array): void {
  // It is a view of the database's own memory.
  answer.push(part.slice())
}

function joined(parts: Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0] as Uint8Array
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let offset = 0
  for (const part of parts) {
    all.set(part, offset)
    offset += part.length
  }
  return all
}

/** PGlite goes on after everything that is thrown; after a panic or a trap it would wait, or answer wrongly, for ever. */
function stopOnPanic(): void {
  const module = pglite.Module
  const loopOnce = module._PostgresMainLoopOnce
  module._PostgresMainLoopOnce = () => {
    try {
      loopOnce()
    } catch (error) {
      if ((error as { status?: unknown }).status === BACK_TO_LOOP) throw error
      writeSync(2, `The embedded database has stopped: ${error instanceof Error ? error.stack : error}\n`)
      process.exit(1)
    }
  }
}
