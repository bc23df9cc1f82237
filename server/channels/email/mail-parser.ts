import { readMailApart } from './mail-thread.ts'
import type { ParsedMail } from './parsed-mail.ts'

/** Reads mails, whichever way they came, a few at a time: each may take half a gigabyte while it is read. */
export type MailParser = {
  /** Waits for its turn. Never throws for what is in the mail. */
  read(raw: Uint8Array, cut?: { bytes: number } | null): Promise<ParsedMail>
  /** So many wait already that whoever can come again should. */
  isFull(): boolean
}

const AT_ONCE = 2
const MOST_WAITING = 30
const LONGEST_MS = 10_000

export function createMailParser({
  atOnce = AT_ONCE,
  mostWaiting = MOST_WAITING,
  longestMs = LONGEST_MS,
} = {}): MailParser {
  let running = 0
  const waiting: (() => void)[] = []
  return {
    async read(raw, cut = null) {
      if (running < atOnce) running++
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        return await readMailApart(raw, cut, longestMs)
      } finally {
        const next = waiting.shift()
        // The place is handed on.
        if (next) next()
        else running--
      }
    },
    isFull: () => waiting.length >= mostWaiting,
  }
}
