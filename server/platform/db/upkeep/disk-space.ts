import { statfsSync } from 'node:fs'

/** The room on a disk. Below the reserve nothing new may be written, so that what runs can end. */
export type DiskSpace = { isFull(): boolean }

/** What is kept free: 5 % of the file system, but no more than this. */
const MAX_RESERVE_BYTES = 256 * 1024 * 1024
const RESERVED_PART = 0.05
/** Checking takes some ten microseconds. */
const FRESH_MS = 100

/**
 * Watches the file system of a folder. `onChange` is called when a check finds that the reserve has been touched, and
 * when there is room again.
 */
export function watchDiskSpace(folder: string, onChange: (isFull: boolean) => void): DiskSpace {
  let isFull = false
  let checkedAt = Number.NEGATIVE_INFINITY
  return {
    isFull() {
      if (performance.now() - checkedAt < FRESH_MS) return isFull
      checkedAt = performance.now()
      const next = hasNoRoom(folder)
      if (next !== isFull) onChange(next)
      isFull = next
      return isFull
    },
  }
}

/** A folder that is missing or cannot be read is reported by whoever writes to it. */
const hasNoRoom = (folder: string): boolean => (roomOn(folder) ?? 0) < 0

/** Returns the bytes that may be written on the disk of a folder beside the reserve; null if it cannot be read. */
export function roomOn(folder: string): number | null {
  try {
    const { bsize, blocks, bavail } = statfsSync(folder)
    return bavail * bsize - Math.min(RESERVED_PART * blocks * bsize, MAX_RESERVE_BYTES)
  } catch {
    return null
  }
}

/** For a process that does not watch its disk. */
export const ROOM_ENOUGH: DiskSpace = { isFull: () => false }

export const inMb = (bytes: number): string => `${Math.ceil(bytes / 1_000_000)} MB`
