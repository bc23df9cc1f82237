import { Socket } from 'node:net'
import type { ChildMessage, Task, WarmUp } from './child-main.ts'
import { ChildProcessFailure, type ChildProcessFailureCode } from './child-process-failure.ts'
import { frameOf, readFrames } from './frames.ts'
import { type Access, type Launched, launch } from './launch.ts'
import { residentSize } from './resident-size.ts'

export type Limits = {
  /** Counted from when the child is given the input. */
  timeoutMs: number
  /** Resident memory of the whole process. */
  memoryMb: number
  /** The size of the whole result for one input. */
  answerMb: number
}

export type Watcher = {
  /** Called when the child has loaded the module. The child gets the input when it resolves. */
  onBegin?: (() => Promise<void>) | undefined
  /** Called with each piece of the result. */
  onPiece: (piece: unknown) => void
}

export type Child = {
  /** The process id, or null when the process has ended. */
  pid(): number | null
  /**
   * Runs the module with one input. Rejects with ChildProcessFailure, after which the child has been killed, or with what
   * `onBegin` throws.
   */
  run(order: Task, bounds: Limits, watcher: Watcher, signal: AbortSignal): Promise<void>
  /** Returns whether the child can be given another input. */
  isReusable(): boolean
  /** Kills the child. Resolves when it has exited. */
  end(): Promise<void>
}

const START_MS = 60_000
const POLL_MS = 50
/** A child that uses more than this share of its memory limit is not reused. */
const REUSE_SHARE = 0.5
const MAX_BUSY_MS = 600_000
const KEPT_OF_STDERR = 4_000

// Kill all children when the service exits without closing its pools.
const alive = new Set<Launched>()
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL')
})

/** Starts a child that is fit for `maxTasks` inputs. */
export function startChild(memoryMb: number, maxTasks: number, access: Access): Child {
  const launched = launch(memoryMb, access)
  alive.add(launched)
  const { stdin, stdout, stderr } = launched
  const exited = new Promise<void>((resolve) => {
    launched.once('close', () => resolve())
    launched.once('error', () => resolve())
  })
  let isAlive = true
  let errorOutput = ''
  let orders = 0
  let busyMs = 0
  let isTooLarge = false
  let receive: (message: ChildMessage) => void = () => {}
  let fail: (failure: ChildProcessFailure) => void = () => {}
  let answered = 0
  let most = Number.POSITIVE_INFINITY

  const kill = (): void => {
    isAlive = false
    launched.kill('SIGKILL')
  }
  const giveUp = (code: ChildProcessFailureCode, message: string, cause?: unknown): void => {
    kill()
    fail(new ChildProcessFailure(code, message, cause))
  }
  const onDeath = (reason: string) => {
    isAlive = false
    alive.delete(launched)
    const code = /out of memory|allocation failed|failed to allocate/i.test(errorOutput)
      ? 'out_of_memory'
      : 'crashed'
    fail(new ChildProcessFailure(code, `The child process ended (${reason}).`))
  }
  const reader = readFrames<ChildMessage>(Number.MAX_SAFE_INTEGER, (message) => receive(message))

  launched.on('error', (error) => onDeath(error.message))
  launched.on('close', (code, signal) => onDeath(`${signal ?? code}`))
  // Writing fails when the child has exited, which is handled by its exit event.
  stdin.on('error', () => {})
  stderr.on('data', (text: Buffer) => {
    errorOutput = (errorOutput + text.toString('latin1')).slice(-KEPT_OF_STDERR)
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
    receive = () => resolve()
  })
  holdOpen(false)

  const watch = async (memory: number): Promise<void> => {
    const size = launched.pid === undefined ? null : await residentSize(launched.pid)
    if (size === null || !isAlive) return
    isTooLarge = size > memory * REUSE_SHARE
    if (size > memory) giveUp('out_of_memory', `The child held ${size} bytes.`)
  }

  return {
    async run(order, { timeoutMs, memoryMb: allowedMb, answerMb }, { onBegin, onPiece }, signal) {
      orders += 1
      const memory = allowedMb * 1_048_576
      const begun = performance.now()
      holdOpen(true)
      const watching = setInterval(() => void watch(memory), POLL_MS)
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
        // Failures until here are not caused by the input.
        const loaded = new Promise<void>((resolve) => {
          receive = (message) => {
            if ('loaded' in message) resolve()
            else if ('threw' in message) giveUp('crashed', message.threw)
          }
        })
        stdin.write(frameOf({ module: order.module } satisfies WarmUp))
        await Promise.race([failed, loaded])
        clearTimeout(timer)
        await Promise.race([failed, onBegin?.()])
        timer = setTimeout(() => giveUp('timeout', `It took more than ${timeoutMs} ms.`), timeoutMs)
        answered = 0
        most = answerMb * 1_048_576
        const done = new Promise<void>((resolve) => {
          receive = (message) => {
            if ('piece' in message) onPiece(message.piece)
            else if ('done' in message) resolve()
            else if ('threw' in message) giveUp('crashed', message.threw)
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
        receive = () => {}
        busyMs += performance.now() - begun
        holdOpen(false)
      }
    },
    pid: () => (isAlive ? (launched.pid ?? null) : null),
    isReusable: () => isAlive && !isTooLarge && orders < maxTasks && busyMs < MAX_BUSY_MS,
    async end() {
      holdOpen(true)
      if (isAlive) kill()
      await exited
    },
  }
}

/** Keeps the event loop of the service alive because of the child only while the child works. */
function holds(child: Launched, isBusy: boolean): void {
  const word = isBusy ? 'ref' : 'unref'
  child[word]()
  for (const pipe of [child.stdin, child.stdout, child.stderr]) if (pipe instanceof Socket) pipe[word]()
}
