import { ApartFailure, type ApartFailureCode } from './apart-failure.ts'
import type { Load, Order, Word } from './child-main.ts'
import { frameOf, readFrames } from './frames.ts'
import { type Launched, launch } from './launch.ts'
import { residentSize } from './resident-size.ts'

export type Bounds = {
  /** From the moment that the child has begun with it. */
  timeoutMs: number
  /** Resident memory of the whole process. */
  memoryMb: number
  /** Everything that it answers to one input. */
  answerMb: number
}

export type Watcher = {
  /** Called when the child has loaded the module, and awaited before it is given the input. */
  onBegin?: () => Promise<void>
  /** Called with each piece of the answer. */
  onPiece: (piece: unknown) => void
}

export type Child = {
  /** While it is alive. */
  pid(): number | null
  /** Has the module answer one input. Rejects with ApartFailure, when the child has been ended, or as `onBegin` does. */
  ask(order: Order, bounds: Bounds, watcher: Watcher, signal: AbortSignal): Promise<void>
  /** Whether it can take another input. */
  isFit(): boolean
  /** Ends it at once; resolves when it has ended. */
  end(): Promise<void>
}

const START_MS = 60_000
const LOOK_MS = 50
/** A child that holds more than this share of its memory limit when it was last looked at is not reused. */
const FAT = 0.5
const MOST_ORDERS = 200
const MOST_BUSY_MS = 600_000
const KEPT_OF_STDERR = 4_000

// A service that ends in a hurry takes its children along.
const alive = new Set<Launched>()
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL')
})

export function startChild(memoryMb: number): Child {
  const launched = launch(memoryMb)
  alive.add(launched)
  const { stdin, stdout, stderr } = launched
  const exited = new Promise<void>((resolve) => {
    launched.once('close', () => resolve())
    launched.once('error', () => resolve())
  })
  let isAlive = true
  let lastWords = ''
  let orders = 0
  let busyMs = 0
  let isFat = false
  let hear: (word: Word) => void = () => {}
  let fail: (failure: ApartFailure) => void = () => {}
  let answered = 0
  let most = Number.POSITIVE_INFINITY

  const kill = (): void => {
    isAlive = false
    launched.kill('SIGKILL')
  }
  const giveUp = (code: ApartFailureCode, message: string, cause?: unknown): void => {
    kill()
    fail(new ApartFailure(code, message, cause))
  }
  const onDeath = (reason: string) => {
    isAlive = false
    alive.delete(launched)
    const code = /out of memory|allocation failed|failed to allocate/i.test(lastWords)
      ? 'out_of_memory'
      : 'crashed'
    fail(new ApartFailure(code, `The child process ended (${reason}).`))
  }
  const reader = readFrames(Number.MAX_SAFE_INTEGER, (word) => hear(word as Word))

  launched.on('error', (error) => onDeath(error.message))
  launched.on('close', (code, signal) => onDeath(`${signal ?? code}`))
  // It may end while it is written to; its exit tells.
  stdin.on('error', () => {})
  stderr.on('data', (text: Buffer) => {
    lastWords = (lastWords + text.toString('latin1')).slice(-KEPT_OF_STDERR)
  })
  stdout.on('data', (bytes: Buffer) => {
    answered += bytes.length
    if (answered > most) return giveUp('too_large', `The child answered with more than ${most} bytes.`)
    try {
      reader.push(bytes)
    } catch (error) {
      giveUp('crashed', 'The child answered what cannot be read.', error)
    }
  })
  const holdOpen = (isBusy: boolean): void => holds(launched, isBusy)
  const ready = new Promise<void>((resolve) => {
    hear = () => resolve()
  })
  holdOpen(false)

  const watch = async (memory: number): Promise<void> => {
    const size = launched.pid === undefined ? null : await residentSize(launched.pid)
    if (size === null || !isAlive) return
    isFat = size > memory * FAT
    if (size > memory) giveUp('out_of_memory', `The child held ${size} bytes.`)
  }

  return {
    async ask(order, { timeoutMs, memoryMb: allowedMb, answerMb }, { onBegin, onPiece }, signal) {
      orders += 1
      const memory = allowedMb * 1_048_576
      const begun = performance.now()
      holdOpen(true)
      const watching = setInterval(() => void watch(memory), LOOK_MS)
      let timer = setTimeout(() => giveUp('crashed', 'The child did not start.'), START_MS)
      const onAbort = (): void => giveUp('aborted', 'It was cancelled.')
      signal.addEventListener('abort', onAbort)
      try {
        const failed = new Promise<never>((_, reject) => {
          fail = reject
        })
        failed.catch(() => {})
        if (!isAlive) onDeath('before it began')
        else if (signal.aborted) onAbort()
        await Promise.race([failed, ready])
        // The input is not to blame for what happens until here.
        const loaded = new Promise<void>((resolve) => {
          hear = (word) => {
            if ('loaded' in word) resolve()
            else if ('threw' in word) giveUp('crashed', word.threw)
          }
        })
        stdin.write(frameOf({ module: order.module } satisfies Load))
        await Promise.race([failed, loaded])
        clearTimeout(timer)
        await Promise.race([failed, onBegin?.()])
        timer = setTimeout(() => giveUp('timeout', `It took more than ${timeoutMs} ms.`), timeoutMs)
        answered = 0
        most = answerMb * 1_048_576
        const done = new Promise<void>((resolve) => {
          hear = (word) => {
            if ('piece' in word) onPiece(word.piece)
            else if ('done' in word) resolve()
            else if ('threw' in word) giveUp('crashed', word.threw)
          }
        })
        stdin.write(frameOf(order))
        await Promise.race([failed, done])
        await watch(memory)
      } finally {
        clearInterval(watching)
        clearTimeout(timer)
        signal.removeEventListener('abort', onAbort)
        fail = () => {}
        hear = () => {}
        busyMs += performance.now() - begun
        holdOpen(false)
      }
    },
    pid: () => (isAlive ? (launched.pid ?? null) : null),
    isFit: () => isAlive && !isFat && orders < MOST_ORDERS && busyMs < MOST_BUSY_MS,
    async end() {
      holdOpen(true)
      if (isAlive) kill()
      await exited
    },
  }
}

/** The service lives on because of a child only while that one works. */
function holds(child: Launched, isBusy: boolean): void {
  const word = isBusy ? 'ref' : 'unref'
  child[word]()
  for (const pipe of [child.stdin, child.stdout, child.stderr] as unknown as Record<
    typeof word,
    () => void
  >[])
    pipe[word]()
}
