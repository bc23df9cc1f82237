import type { UpdateObject } from 'kysely'
import { sql } from 'kysely'
import type { Db, Trx } from '../db/database.ts'
import type { AccountId } from '../db/tables/columns.ts'
import type { DeliveryStatus } from '../db/tables/deliveries.ts'
import type { Tables } from '../db/tables/tables.ts'
import type { DeliveryRow } from './claim-delivery.ts'

/** What became of one attempt. */
export type Attempt =
  | { kind: 'sent'; providerMessageId: string | null }
  /** Nothing has left; it is tried again. */
  | { kind: 'retry'; reason: string; afterMs?: number }
  /** It may have left: the channel is told so when it is tried again, if nobody confirms it before. */
  | { kind: 'unknown'; reason: string; afterMs?: number }
  /** The other side will never take it. */
  | { kind: 'refused'; reason: string }

const SECOND = 1_000
const FIRST_WAIT_MS = 2 * SECOND
const LONGEST_WAIT_MS = 5 * 60 * SECOND
/** Without an answer of its own the provider is asked for about a day. */
const MOST_ATTEMPTS = 300

const waitAfter = (attempts: number): number =>
  Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempts - 1, 20))

/** Notes how the attempt that was claimed has ended; answers the new status, null when it was settled meanwhile. */
export async function settleAttempt(
  trx: Trx,
  { id, account_id, attempts }: DeliveryRow,
  attempt: Attempt,
): Promise<DeliveryStatus | null> {
  const gaveUp = attempts >= MOST_ATTEMPTS && attempt.kind !== 'sent'
  const status: DeliveryStatus =
    attempt.kind === 'sent' ? 'sent' : attempt.kind === 'refused' || gaveUp ? 'failed' : 'queued'
  const wait = 'afterMs' in attempt ? (attempt.afterMs ?? waitAfter(attempts)) : waitAfter(attempts)
  const changed = await trx
    .updateTable('deliveries')
    .set({
      status,
      lease_until: null,
      next_at: sql<Date>`now() + ${wait} * interval '1 millisecond'`,
      updated_at: new Date(),
      error: attempt.kind === 'sent' ? null : attempt.reason,
      ...(attempt.kind === 'sent' ? { provider_message_id: attempt.providerMessageId } : {}),
      ...(attempt.kind === 'unknown' ? { maybe_sent: true } : {}),
    })
    .where('account_id', '=', account_id)
    .where('id', '=', id)
    .where('status', '=', 'sending')
    .where('attempts', '=', attempts)
    .executeTakeFirst()
  return changed.numUpdatedRows > 0n ? status : null
}

const RANK: Record<DeliveryStatus, number> = {
  queued: 0,
  sending: 0,
  failed: 1,
  sent: 2,
  delivered: 3,
  read: 4,
}

/** What the provider tells of a delivery after the attempt. */
type Report = {
  status: 'sent' | 'delivered' | 'read' | 'failed'
  providerMessageId?: string
  reason?: string
}

/** As applyReport, for a row that the transaction does not hold yet. */
export async function reportDelivery(
  trx: Trx,
  accountId: AccountId,
  id: string,
  report: Report,
): Promise<DeliveryRow | null> {
  const row = await trx
    .selectFrom('deliveries')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  return row ? applyReport(trx, row, report) : null
}

/**
 * What the provider reports later, in any order and more than once: a status never goes back, and a report of one
 * that was taken for unsent settles it. The row is locked. Answers it as it is now when its status has changed.
 */
export async function applyReport(trx: Trx, row: DeliveryRow, report: Report): Promise<DeliveryRow | null> {
  // A failure that comes after the person has it is a mistake of the provider's.
  const moves =
    report.status === 'failed'
      ? RANK[row.status] <= RANK.sent && row.status !== 'failed'
      : RANK[report.status] > RANK[row.status]
  if (!moves) return null
  const changes = {
    status: report.status,
    lease_until: null,
    error: report.reason ?? null,
    provider_message_id: report.providerMessageId ?? row.provider_message_id,
    updated_at: new Date(),
  }
  await trx
    .updateTable('deliveries')
    .set(changes)
    .where('account_id', '=', row.account_id)
    .where('id', '=', row.id)
    .execute()
  return { ...row, ...changes }
}

/** Marks a delivery that is being sent as failed. Does nothing if a report has settled it meanwhile. */
export async function failDelivery(
  trx: Trx,
  accountId: AccountId,
  id: string,
  { reason, isUncertain }: { reason: string; isUncertain: boolean },
): Promise<void> {
  await trx
    .updateTable('deliveries')
    .set({
      status: 'failed',
      lease_until: null,
      maybe_sent: isUncertain,
      error: reason,
      updated_at: new Date(),
    })
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .where('status', '=', 'sending')
    .execute()
}

/** Queues a failed delivery once more, in its old place; false when it has not failed. */
export async function retryDelivery(db: Db, accountId: AccountId, id: string): Promise<boolean> {
  const changed = await db
    .updateTable('deliveries')
    .set({ status: 'queued', attempts: 0, next_at: new Date(), error: null, updated_at: new Date() })
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .where('status', '=', 'failed')
    .executeTakeFirst()
  return changed.numUpdatedRows > 0n
}

/** Sets columns of a delivery that a channel has learned, in a transaction that holds its row. */
export async function changeDelivery(
  trx: Trx,
  { id, account_id }: Pick<DeliveryRow, 'id' | 'account_id'>,
  changes: UpdateObject<Tables, 'deliveries'>,
): Promise<void> {
  await trx
    .updateTable('deliveries')
    .set(changes)
    .where('account_id', '=', account_id)
    .where('id', '=', id)
    .execute()
}
