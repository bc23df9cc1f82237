import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'

/**
 * Returns the bytes of memory that a process holds for itself, or null when that cannot be found out. On Linux, pages of
 * files are left out, such as Node's own program, whose share varies by 50 MB and which the system can take back.
 */
export async function residentSize(pid: number): Promise<number | null> {
  if (process.platform === 'win32') return null
  if (process.platform !== 'linux') return askPs(pid)
  const text = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '')
  const kilobytesOf = (name: string): number =>
    Number(new RegExp(`^${name}:\\s*(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0)
  return bytesOf(kilobytesOf('RssAnon') + kilobytesOf('RssShmem'))
}

function askPs(pid: number): Promise<number | null> {
  return new Promise((resolve) => {
    execFile('ps', ['-o', 'rss=', '-p', String(pid)], (error, stdout) =>
      resolve(error ? null : bytesOf(Number(stdout))),
    )
  })
}

function bytesOf(kilobytes: number): number | null {
  const size = kilobytes * 1_024
  return size > 0 ? size : null
}
