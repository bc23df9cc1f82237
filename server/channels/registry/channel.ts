import type { Context } from '../../context.ts'
import type { ChannelName } from '../../db/tables/channels.ts'
import type { DeliveryRow } from '../../deliveries/claim-delivery.ts'
import type { Attempt } from '../../deliveries/settle-delivery.ts'

/** A way to customers. What comes in goes through receiveMessage, what goes out through the deliveries. */
export type Channel = {
  name: ChannelName
  /**
   * One attempt to send, in order within its lane. Never throws for what the provider does: `unknown` when it may
   * have been taken. `signal` ends it before the lease does.
   */
  send(ctx: Context, delivery: DeliveryRow, signal: AbortSignal): Promise<Attempt>
}
