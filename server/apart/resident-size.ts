import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'

/** The bytes of memory that a process holds; null when that cannot be found out. */
export async function residentSize(pid: number): Promise<number | null> {
  if (process.platform === 'win32') return null
  if (process.platform !== 'linux') return askPs(pid)
  const text = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '')
  return bytesOf(/^VmRSS:\s*(\d+) kB$/m.exec(text)?.[1])
}

function askPs(pid: number): Promise<number | null> {
  return new Promise((resolve) => {
    execFile('ps', ['-o', 'rss=', '-p', String(pid)], (error, stdout) =>
      resolve(error ? null : bytesOf(stdout)),
    )
  })
}

function bytesOf(kilobytes: string | undefined): number | null {
  const size = Number(kilobytes) * 1_024
  return size > 0 ? size : null
}
