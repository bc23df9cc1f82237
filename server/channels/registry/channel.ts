import type { Context } from '../../context.ts'
import type { DeliveryRow } from '../../inbox/deliveries/claim-delivery.ts'
import type { Attempt } from '../../inbox/deliveries/settle-delivery.ts'
import type { Trx } from '../../platform/db/database.ts'
import type { ChannelName } from '../../platform/db/tables/channels.ts'

/** What channels need to send. */
export type ChannelNeeds = Pick<
  Context,
  'config' | 'db' | 'fetcher' | 'filesDir' | 'jobs' | 'log' | 'notifier' | 'secrets'
>

/** A channel to customers. Incoming messages go through receiveMessage, outgoing ones through the deliveries. */
export type Channel = {
  name: ChannelName
  /**
   * Makes one attempt to send. It never throws because of the provider: `unknown` means that the delivery may have
   * been accepted. `signal` is aborted before the lease ends.
   */
  send(ctx: ChannelNeeds, delivery: DeliveryRow, signal: AbortSignal): Promise<Attempt>
  /** Runs in the transaction that stores that a delivery was sent. */
  afterSent?(ctx: ChannelNeeds, trx: Trx, delivery: DeliveryRow): Promise<void>
}
