import type { Context } from '../../../context.ts'
import { describeMailError } from '../../../platform/mail/mail-failure.ts'
import {
  type ClaimedMailbox,
  claimMailbox,
  giveBackMailbox,
  LostLease,
  releaseMailbox,
} from '../connection/claim-mailbox.ts'
import { readMailbox } from '../inbound/read-mailbox.ts'

type MailNeeds = Pick<
  Context,
  'config' | 'db' | 'fetcher' | 'filesDir' | 'jobs' | 'log' | 'mailParser' | 'notifier' | 'secrets'
>

const AT_ONCE = 4
/** The most sessions of one process that wait for a mail, each with a connection. Other mailboxes are asked again and again. */
const MAX_WAITING = 100
/** The time limit of one session. It is enough for the largest mail and less than the lease. */
const MAX_VISIT_MS = 120_000

/** Reads the mailboxes that are due. Safe in any number of processes. */
type MailReader = {
  /** Starts as many sessions as allowed. Each one that ends looks for the next mailbox. */
  tick(): Promise<void>
  /** Resolves when no session is running. */
  idle(): Promise<void>
  /** Aborts the running sessions and starts no more. */
  close(): Promise<void>
}

export function createMailReader(
  ctx: MailNeeds,
  { maxMs = MAX_VISIT_MS, maxWaiting = MAX_WAITING } = {},
): MailReader {
  const ending = new AbortController()
  const underWay = new Set<Promise<void>>()
  let waiting = 0
  const work = async (): Promise<void> => {
    let waits = false
    /** A session that waits leaves its place to another one. */
    const mayWait = (): boolean => {
      if (waiting >= maxWaiting || ending.signal.aborted) return false
      waits = true
      waiting++
      start()
      return true
    }
    while (!ending.signal.aborted && !waits) {
      const row = await claimMailbox(ctx.db)
      if (!row) return
      // If one was due, there may be more.
      start()
      await visit(ctx, row, { maxMs, signal: ending.signal, mayWait }).finally(() => {
        if (waits) waiting--
      })
    }
    start()
  }
  const idle = async (): Promise<void> => {
    while (underWay.size > 0) await Promise.all(underWay)
  }
  const start = (): void => {
    if (underWay.size - waiting >= AT_ONCE || ending.signal.aborted) return
    const done = work()
      .catch((error: unknown) => ctx.log.error({ err: error }, 'mailboxes could not be read'))
      .finally(() => underWay.delete(done))
    underWay.add(done)
  }
  return {
    tick: async () => start(),
    idle,
    async close() {
      ending.abort()
      await idle()
    },
  }
}

async function visit(
  ctx: MailNeeds,
  row: ClaimedMailbox,
  limits: Parameters<typeof readMailbox>[2],
): Promise<void> {
  try {
    const more = await readMailbox(ctx, row, limits)
    await releaseMailbox(ctx.db, row, { error: null, more })
  } catch (error) {
    if (error instanceof LostLease) return
    if (limits.signal.aborted) return giveBackMailbox(ctx.db, row)
    const { message, cause } = describeMailError(error, row.imap?.host ?? '')
    ctx.log.warn({ err: cause ?? error, agent: row.agent_id }, 'a mailbox could not be read')
    await releaseMailbox(ctx.db, row, { error: message, more: false })
  }
}
