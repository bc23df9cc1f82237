import { claimDelivery, type DeliveryRow, LEASE_SECONDS } from '../../inbox/deliveries/claim-delivery.ts'
import { type Attempt, settleAttempt } from '../../inbox/deliveries/settle-delivery.ts'
import { holdTicketOf, recordDelivery } from '../../inbox/messages/record-delivery.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { Channel, ChannelNeeds } from '../registry/channel.ts'

/** The most attempts at once in one process. Each lane has at most one of them, and each account a share. */
const AT_ONCE = 8
const MAX_MS = (LEASE_SECONDS - 30) * 1_000

/** Sends the due deliveries, each lane in its order. Any number of processes may do so. */
type Sender = {
  /** Starts as many attempts as allowed. Each one that ends looks for the next delivery. */
  tick(): Promise<void>
  /** Resolves when no attempt is running. */
  idle(): Promise<void>
}

export function createSender(ctx: ChannelNeeds, channels: Channel[]): Sender {
  const underWay = new Set<Promise<void>>()
  const fill = async (): Promise<void> => {
    while (underWay.size < AT_ONCE) {
      const delivery = await claimDelivery(ctx.db)
      if (!delivery) return
      const done = attempt(ctx, channels, delivery)
        .catch((error: unknown) =>
          ctx.log.error({ err: error, delivery: delivery.id }, 'a delivery could not be processed'),
        )
        .finally(() => underWay.delete(done))
        .then(tick)
        .catch((error: unknown) => ctx.log.error({ err: error }, 'the next delivery could not be queued'))
      underWay.add(done)
    }
  }
  // The claims run one after another, because each depends on what the earlier ones took.
  let last: Promise<void> = Promise.resolve()
  const tick = (): Promise<void> => {
    const filled = last.then(fill)
    last = filled.catch(() => {})
    return filled
  }
  return {
    tick,
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}

async function attempt(ctx: ChannelNeeds, channels: Channel[], delivery: DeliveryRow): Promise<void> {
  const channel = channels.find(({ name }) => name === delivery.channel)
  const outcome: Attempt = channel
    ? await channel.send(ctx, delivery, AbortSignal.timeout(MAX_MS)).catch((error: unknown) => {
        ctx.log.error({ err: error, delivery: delivery.id }, 'a delivery failed with an unexpected error')
        return { kind: 'unknown', reason: 'An error inside the service.' }
      })
    : { kind: 'refused', reason: 'This installation has no such channel.' }
  await transact(ctx.db, async (trx) => {
    if (outcome.kind !== 'sent') await holdTicketOf(trx, delivery.account_id, delivery.id)
    const status = await settleAttempt(trx, delivery, outcome)
    const error = outcome.reason ?? null
    if (status === 'failed')
      ctx.log.warn(
        { delivery: delivery.id, agent: delivery.agent_id, channel: delivery.channel },
        'a message could not be delivered; the reason is shown at the message',
      )
    if (status === 'sent') await channel?.afterSent?.(ctx, trx, delivery)
    if (status === 'sent' || status === 'failed')
      await recordDelivery(ctx, trx, { ...delivery, error }, status)
  })
}
