import { Worker } from 'node:worker_threads'
import type { ParsedMail } from './parsed-mail.ts'
import { unreadable } from './unreadable.ts'

const LONGEST_MS = 60_000
const MAX_HEAP_MB = 512

/**
 * readMail in a thread of its own: no mail holds up the service, and none outlives its time or memory. One that does
 * is kept as a file.
 */
export function readMailApart(raw: Uint8Array, cut: { bytes: number } | null = null): Promise<ParsedMail> {
  return new Promise((resolve) => {
    const worker = new Worker(new URL('./mail-thread-main.ts', import.meta.url), {
      name: 'mail',
      env: {},
      workerData: { raw, cut },
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB, stackSizeMb: 8 },
      stdout: true,
      stderr: true,
    })
    const timer = setTimeout(() => settle(unreadable(raw)), LONGEST_MS)
    const settle = (mail: ParsedMail): void => {
      clearTimeout(timer)
      resolve(mail)
      void worker.terminate()
    }
    worker.stdout.resume()
    worker.stderr.resume()
    worker.on('message', settle)
    worker.on('error', () => settle(unreadable(raw)))
    worker.on('exit', () => settle(unreadable(raw)))
  })
}
