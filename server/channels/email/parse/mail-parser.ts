import { createPool } from '../../../platform/child-process/pool.ts'
import { unreadable } from '../inbound/unreadable.ts'
import type { MailOrder } from './mail-work.ts'
import type { ParsedMail } from './parsed-mail.ts'

/**
 * Parses mails from every source in child processes, a few at a time, so that no mail blocks the service or exceeds its
 * limits of time and memory. Accounts take turns.
 */
type MailParser = {
  /**
   * Parses a mail when it is the account's turn. The content of a mail never makes it throw: a mail that crashes its
   * process becomes an attachment. Throws ChildProcessFailure when parsing never began or the service is closing; the caller
   * should retry.
   */
  read(accountId: string, raw: Uint8Array, cut?: { bytes: number } | null): Promise<ParsedMail>
  /** Returns whether the queue or the account's share of it is full, so that senders should retry. */
  isFull(accountId: string): boolean
  /** The ids of the running child processes. */
  processes(): number[]
  /** Ends the processes. */
  close(): Promise<void>
}

const MODULE = new URL('./mail-work.ts', import.meta.url).href
const PLACES = 2
const MAX_WAITING = 30
const MAX_WAITING_OF_ONE = 20
const MAX_MS = 30_000
const MEMORY_MB = 512
/** The limit for the parsed mail, including its attachments. */
const ANSWER_MB = 128
const IDLE_MS = 30_000

export function createMailParser({
  maxWaiting = MAX_WAITING,
  maxWaitingOfOne = MAX_WAITING_OF_ONE,
  maxMs = MAX_MS,
} = {}): MailParser {
  const pool = createPool({
    places: PLACES,
    timeoutMs: maxMs,
    memoryMb: MEMORY_MB,
    answerMb: ANSWER_MB,
    idleMs: IDLE_MS,
  })
  const closing = new AbortController()
  const waiting = new Map<string, number>()
  const wait = (accountId: string, more: number): void => {
    const all = (waiting.get(accountId) ?? 0) + more
    if (all > 0) waiting.set(accountId, all)
    else waiting.delete(accountId)
  }
  return {
    async read(accountId, raw, cut = null) {
      const found: { mail?: ParsedMail } = {}
      let begun = false
      const begin = (): void => {
        if (!begun) wait(accountId, -1)
        begun = true
      }
      wait(accountId, 1)
      try {
        await pool.run(
          accountId,
          { module: MODULE, input: { raw, cut } satisfies MailOrder },
          {
            onBegin: async () => begin(),
            onPiece: (mail) => {
              found.mail = mail as ParsedMail
            },
          },
        )
      } catch (error) {
        if (!begun || closing.signal.aborted) throw error
      } finally {
        begin()
      }
      return found.mail ?? unreadable(raw)
    },
    isFull(accountId) {
      const all = [...waiting.values()].reduce((sum, some) => sum + some, 0)
      return all >= maxWaiting || (waiting.get(accountId) ?? 0) >= maxWaitingOfOne
    },
    processes: () => pool.processes(),
    close() {
      closing.abort()
      return pool.close()
    },
  }
}
