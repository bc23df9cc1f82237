import type { UpdateObject } from 'kysely'
import { sql } from 'kysely'
import type { Db, Trx } from '../../platform/db/database.ts'
import { ownRow } from '../../platform/db/refs.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { DeliveryStatus } from '../../platform/db/tables/deliveries.ts'
import type { Tables } from '../../platform/db/tables/tables.ts'
import { type DeliveryRow, MAX_PAUSE_MS } from './claim-delivery.ts'

/** The result of an attempt. */
export type Attempt =
  /** `reason` names recipients of several that it was not sent to. */
  | { kind: 'sent'; providerMessageId: string | null; reason?: string }
  /** Nothing was sent, and it is tried again. */
  | { kind: 'retry'; reason: string; afterMs?: number }
  /** It may have been sent. Unless a report confirms it first, it is tried again and marked as possibly sent. */
  | { kind: 'unknown'; reason: string; afterMs?: number }
  /** The provider or mail server will never accept it. */
  | { kind: 'refused'; reason: string }

const SECOND = 1_000
const FIRST_WAIT_MS = 2 * SECOND
const MAX_WAIT_MS = 5 * 60 * SECOND
/** With the growing delays, deliveries are tried for about a day. */
const MAX_ATTEMPTS = 300

const waitAfter = (attempts: number): number =>
  Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempts - 1, 20))

/** Stores the result of a claimed attempt. Returns the new status, or null when the delivery was settled meanwhile. */
export async function settleAttempt(
  trx: Trx,
  { id, account_id, attempts }: DeliveryRow,
  attempt: Attempt,
): Promise<DeliveryStatus | null> {
  const gaveUp = attempts >= MAX_ATTEMPTS && attempt.kind !== 'sent'
  const status: DeliveryStatus =
    attempt.kind === 'sent' ? 'sent' : attempt.kind === 'refused' || gaveUp ? 'failed' : 'queued'
  const asked = 'afterMs' in attempt ? attempt.afterMs : undefined
  const wait = asked === undefined ? waitAfter(attempts) : Math.min(MAX_PAUSE_MS, asked)
  const changed = await trx
    .updateTable('deliveries')
    .set({
      status,
      lease_until: null,
      next_at: sql<Date>`now() + ${wait} * interval '1 millisecond'`,
      updated_at: new Date(),
      error: attempt.reason ?? null,
      ...(attempt.kind === 'sent' ? { provider_message_id: attempt.providerMessageId } : {}),
      ...(attempt.kind === 'unknown' ? { maybe_sent: true } : {}),
    })
    .where(ownRow(account_id, id))
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

/** What the provider reports after the attempt. */
type Report = {
  status: 'sent' | 'delivered' | 'read' | 'failed'
  providerMessageId?: string
  reason?: string
}

/** Does the same as applyReport for a row that the transaction has not locked yet. */
export async function reportDelivery(
  trx: Trx,
  accountId: AccountId,
  id: string,
  report: Report,
): Promise<DeliveryRow | null> {
  const row = await trx
    .selectFrom('deliveries')
    .selectAll()
    .where(ownRow(accountId, id))
    .forUpdate()
    .executeTakeFirst()
  return row ? applyReport(trx, row, report) : null
}

/**
 * Applies a later report of the provider. Reports may arrive in any order and more than once. A status never goes
 * back, and a report about a delivery that was taken for unsent settles it. The caller has locked the row. Returns
 * the changed row, or null when its status has not changed.
 */
export async function applyReport(trx: Trx, row: DeliveryRow, report: Report): Promise<DeliveryRow | null> {
  // A failure that is reported after the message was delivered is a mistake of the provider.
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
  await trx.updateTable('deliveries').set(changes).where(ownRow(row.account_id, row.id)).execute()
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
    .where(ownRow(accountId, id))
    .where('status', '=', 'sending')
    .execute()
}

/** Queues a failed delivery again in its old place. Returns false when it has not failed. */
export async function retryDelivery(db: Db, accountId: AccountId, id: string): Promise<boolean> {
  const changed = await db
    .updateTable('deliveries')
    .set({ status: 'queued', attempts: 0, next_at: new Date(), error: null, updated_at: new Date() })
    .where(ownRow(accountId, id))
    .where('status', '=', 'failed')
    .executeTakeFirst()
  return changed.numUpdatedRows > 0n
}

/** Sets columns of a delivery in a transaction that has locked its row. */
export async function changeDelivery(
  trx: Trx,
  { id, account_id }: Pick<DeliveryRow, 'id' | 'account_id'>,
  changes: UpdateObject<Tables, 'deliveries'>,
): Promise<void> {
  await trx.updateTable('deliveries').set(changes).where(ownRow(account_id, id)).execute()
}
