import { type Selectable, sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import type { DeliveriesTable } from '../../platform/db/tables/deliveries.ts'

export type DeliveryRow = Selectable<DeliveriesTable>

/** Longer than any channel may take for one attempt. */
export const LEASE_SECONDS = 90

/** The longest wait between two attempts, whatever a provider asks for. */
export const MAX_PAUSE_MS = 15 * 60_000

/**
 * The most attempts at once for one channel of an account, in all processes together, so that slow servers delay
 * nobody else. Processes that claim at the same moment may exceed it by one each.
 */
export const MAX_UNDER_WAY = 2

/**
 * Claims the next delivery that is due and first in its lane, for one attempt. Returns null when there is none. The
 * delivery of a dead process is claimed again after its lease and marked as possibly sent.
 */
export async function claimDelivery(db: Db): Promise<DeliveryRow | null> {
  const { rows } = await sql<DeliveryRow>`
    with busy as materialized (
      select account_id, channel from deliveries
      -- Templates are sent by the requests for them, not from here.
      where status = 'sending' and lease_until >= now() and content -> 'template' is null
      group by account_id, channel having count(*) >= ${MAX_UNDER_WAY}
    )
    update deliveries set status = 'sending', attempts = attempts + 1, updated_at = now(),
      maybe_sent = maybe_sent or status = 'sending',
      lease_until = now() + ${LEASE_SECONDS} * interval '1 second'
    where id = (
      select due.id from deliveries as due
      -- Times are kept in milliseconds and rounded: what is due now may be due in half of one.
      where due.status in ('queued', 'sending')
        -- If it waits longer than any delivery does, the clock of the database has been set back.
        and (due.next_at <= now() + interval '1 millisecond'
          or due.next_at > now() + ${MAX_PAUSE_MS + 1_000} * interval '1 millisecond')
        and (due.status = 'queued' or due.lease_until < now())
        and (due.account_id, due.channel) not in (select account_id, channel from busy)
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
