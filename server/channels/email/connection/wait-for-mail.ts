import { setTimeout as wait } from 'node:timers/promises'
import type { ImapFlow } from 'imapflow'

/** How often the lease is renewed and the server is asked whether it is still there. */
const RENEW_MS = 60_000
/** After this time the mailbox is read, whatever the server has said. */
const MAX_WAIT_MS = 280_000
/** The time limit of a session that waits, including what it does before and after. */
export const MAX_SESSION_MS = MAX_WAIT_MS + 120_000

type News = Promise<'new' | 'closed'>

/** Listens from now on for mails that arrive in the open mailbox. */
export const newsOf = (client: ImapFlow): News =>
  new Promise((resolve) => {
    client.once('exists', () => resolve('new'))
    client.once('close', () => resolve('closed'))
  })

/**
 * Waits with IDLE (RFC 2177) for a mail. Returns whether the mailbox should be read at once: there is news, or the time
 * is over. It returns false when the server has ended the waiting.
 */
export async function waitForMail(
  client: ImapFlow,
  news: News,
  renew: () => Promise<void>,
): Promise<boolean> {
  const until = performance.now() + MAX_WAIT_MS
  while (performance.now() < until) {
    await renew()
    const ending = new AbortController()
    const idle = client.idle().then(
      () => 'ended' as const,
      () => 'ended' as const,
    )
    const time = wait(RENEW_MS, 'time' as const, { signal: ending.signal }).catch(() => 'time' as const)
    const first = await Promise.race([news, idle, time])
    ending.abort()
    if (first !== 'time') return first === 'new'
    // Another command ends the waiting, and fails if the server is gone.
    await client.noop()
  }
  return true
}
