import { Worker } from 'node:worker_threads'
import type { ParsedMail } from './parsed-mail.ts'
import { unreadable } from './unreadable.ts'

const MAX_HEAP_MB = 512

/**
 * readMail in a thread of its own: no mail holds up the service, and none outlives its time or memory. One that does
 * is kept as a file. Answers when the thread has ended.
 */
export function readMailApart(
  raw: Uint8Array,
  cut: { bytes: number } | null,
  longestMs: number,
): Promise<ParsedMail> {
  return new Promise((resolve) => {
    const worker = new Worker(new URL('./mail-thread-main.ts', import.meta.url), {
      name: 'mail',
      env: {},
      workerData: { raw, cut },
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB, stackSizeMb: 8 },
      stdout: true,
      stderr: true,
    })
    let parsed: ParsedMail | null = null
    const end = (): void => void worker.terminate()
    const timer = setTimeout(end, longestMs)
    worker.stdout.resume()
    worker.stderr.resume()
    worker.on('message', (mail: ParsedMail) => {
      parsed = mail
      end()
    })
    // Its end follows.
    worker.on('error', () => {})
    worker.on('exit', () => {
      clearTimeout(timer)
      resolve(parsed ?? unreadable(raw))
    })
  })
}
