import type { Context } from '../../context.ts'
import { type Route, route } from '../../platform/http/route.ts'
import { presentTicket } from '../tickets/present.ts'
import { type BlockedRow, blockedSenders, blockSender, senderOf, unblockSender } from './blocked-senders.ts'
import * as contract from './contract.ts'
import { markSpam } from './mark-spam.ts'

type Deps = Pick<Context, 'config' | 'db' | 'generations' | 'notifier'>

export const spamRoutes = (ctx: Deps): Route[] => [
  route(contract.markAsSpam, async ({ db, ref, body, caller }) => {
    const change = { isSpam: true, blocks: body.blockSender }
    return presentTicket(await markSpam({ ...ctx, db }, ref, change, caller.member?.id ?? 'api'))
  }),

  route(contract.unmarkAsSpam, async ({ db, ref, caller }) => {
    const change = { isSpam: false, blocks: false }
    return presentTicket(await markSpam({ ...ctx, db }, ref, change, caller.member?.id ?? 'api'))
  }),

  route(contract.listBlockedSenders, async ({ ref }) => (await blockedSenders(ctx.db, ref)).map(present)),

  route(contract.blockSender, async ({ db, ref, body }) =>
    present(await blockSender(db, ref, senderOf(body.sender))),
  ),

  route(contract.unblockSender, async ({ db, ref, params }) => {
    await unblockSender(db, ref, params.blockedSenderId)
    return { success: true as const }
  }),
]

const present = ({ id, sender, created_at }: BlockedRow) => ({
  id,
  sender,
  createdAt: created_at.toISOString(),
})
