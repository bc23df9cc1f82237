import type { Context } from '../../context.ts'
import { type Route, route } from '../../platform/http/route.ts'
import { requireConversation } from '../records/queries.ts'
import { addressesOf } from '../records/source-address.ts'
import * as contract from './contract.ts'
import { explainAnswer } from './explain-answer.ts'

export const explanationRoutes = (ctx: Pick<Context, 'config' | 'db' | 'secrets'>): Route[] => [
  route(contract.explainAnswer, async ({ ref, params: { messageId } }) => {
    await requireConversation(ctx.db, ref)
    return { data: await explainAnswer(ctx.db, ref, messageId, addressesOf(ctx)) }
  }),
]
