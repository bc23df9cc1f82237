import type { Context } from '../../../context.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import type { MessagingAccount } from '../connection/connection.ts'
import { refreshNumbers } from '../connection/numbers.ts'
import type { WebhookEvent } from '../connection/provider-adapter.ts'
import { ProviderFailure } from '../connection/provider-failure.ts'
import { noteUnreadable } from './note-unreadable.ts'
import { reportStatus } from './report-status.ts'
import { takeDeletion, takeEdit } from './take-change.ts'
import { takeMessage, takeReplacement } from './take-message.ts'

const REFRESH_AFTER_MS = 60_000

type Deps = Pick<Context, 'db' | 'fetcher' | 'generations' | 'jobs' | 'log' | 'notifier' | 'secrets'>

/**
 * Stores the events of a webhook in order, each in its own transaction. If one fails, the others stay stored, and
 * the provider sends all of them again. Events of other accounts and numbers, and what cannot be
 * read, leave a note for the operator.
 */
export async function takeWebhook(
  ctx: Deps,
  accounts: MessagingAccount[],
  events: WebhookEvent[],
): Promise<void> {
  for (const event of events) {
    const { kind, businessAccountId, numberId } = event
    const account = accounts.find((candidate) => candidate.businessAccountId === businessAccountId)
    if (kind === 'unreadable') {
      const { messageId: reference, what, detail, isMessage } = event
      await note(ctx, accounts, { what, detail, isMessage, reference })
    } else if (!account || !(await hasNumber(ctx, account, numberId))) {
      ctx.log.warn(
        { businessAccountId, numberId, kind },
        'received a webhook for a number that is not connected',
      )
      const isMessage = kind !== 'status'
      await note(ctx, accounts, { what: 'number', detail: numberId, isMessage, reference: event.messageId })
    } else await takeEvent(ctx, account, event)
  }
}

function takeEvent(
  ctx: Deps,
  account: MessagingAccount,
  event: Exclude<WebhookEvent, { kind: 'unreadable' }>,
): Promise<void> {
  switch (event.kind) {
    case 'message':
      return takeMessage(ctx, account, event)
    case 'edit':
      return takeEdit(ctx, account, event)
    case 'deletion':
      return takeDeletion(ctx, account, event)
    case 'replacement':
      return takeReplacement(ctx, account, event)
    case 'status':
      return reportStatus(ctx, account, event)
  }
}

/** All accounts whose secret fits belong to one agent. */
async function note(
  { db, log }: Deps,
  [account]: MessagingAccount[],
  event: Omit<Parameters<typeof noteUnreadable>[2], 'threadId'>,
): Promise<void> {
  log.warn({ agent: account?.agentId, ...event }, 'a webhook contains something that cannot be read')
  if (account) await noteUnreadable(db, account, { ...event, threadId: null })
}

async function hasNumber(ctx: Deps, account: MessagingAccount, numberId: string): Promise<boolean> {
  const isKnown = () => account.numbers?.some(({ id }) => id === numberId) ?? false
  if (isKnown()) return true
  const { numbers, numbersReadAt } = account
  if (numbersReadAt && Date.now() - numbersReadAt.getTime() < REFRESH_AFTER_MS) return false
  try {
    await refreshNumbers(ctx, account, { timeoutMs: 5_000, retries: 0 })
  } catch (error) {
    if (!(error instanceof ProviderFailure)) throw error
    // As long as the numbers of the account are unknown, no event may be ignored, so the provider must send it again.
    if (numbers === null) throw new ApiError('SERVICE_OVERLOADED', { cause: error })
  }
  return isKnown()
}
