import { type Selectable, sql } from 'kysely'
import type { Db } from '../db/database.ts'
import type { DeliveriesTable } from '../db/tables.ts'

export type DeliveryRow = Selectable<DeliveriesTable>

/** Longer than any channel may take for one attempt. */
export const LEASE_SECONDS = 90

/**
 * Takes the next delivery that is due and first in its lane, for one attempt; null when none is. What a process that
 * died had under way is taken again after its lease, marked as one that may have been sent.
 */
export async function claimDelivery(db: Db): Promise<DeliveryRow | null> {
  const { rows } = await sql<DeliveryRow>`
    update deliveries set status = 'sending', attempts = attempts + 1, updated_at = now(),
      maybe_sent = maybe_sent or status = 'sending',
      lease_until = now() + ${LEASE_SECONDS} * interval '1 second'
    where id = (
      select due.id from deliveries as due
      -- Times are kept in milliseconds and rounded: what is due now may be due in half of one.
      where due.status in ('queued', 'sending') and due.next_at <= now() + interval '1 millisecond'
        and (due.status = 'queued' or due.lease_until < now())
        and not exists (
          select from deliveries as earlier
          where earlier.lane = due.lane and earlier.ordinal < due.ordinal and earlier.status in ('queued', 'sending')
        )
      order by due.next_at
      limit 1
      for update skip locked
    )
    returning *`.execute(db)
  return rows[0] ?? null
}
