import type { Context } from '../../context.ts'
import type { DeliveryRow } from '../../inbox/deliveries/claim-delivery.ts'
import type { Attempt } from '../../inbox/deliveries/settle-delivery.ts'
import type { Trx } from '../../platform/db/database.ts'
import type { ChannelName } from '../../platform/db/tables/channels.ts'

/** A channel to customers. Incoming messages go through receiveMessage, outgoing ones through the deliveries. */
export type Channel = {
  name: ChannelName
  /**
   * Makes one attempt to send. It never throws because of the provider: `unknown` means that the delivery may have
   * been accepted. `signal` is aborted before the lease ends.
   */
  send(ctx: Context, delivery: DeliveryRow, signal: AbortSignal): Promise<Attempt>
  /** Runs in the transaction that stores that a delivery was sent. */
  afterSent?(ctx: Context, trx: Trx, delivery: DeliveryRow): Promise<void>
}
