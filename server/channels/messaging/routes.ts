import { requireAgent } from '../../agents/find-agent.ts'
import type { Context } from '../../context.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import { type Route, route } from '../../http/route.ts'
import { answerEarlier } from './answer-earlier.ts'
import { deleteConnection, putConnection } from './connection.ts'
import {
  connectMessaging,
  disconnectMessaging,
  listMessagingTemplates,
  sendMessagingTemplate,
} from './contract.ts'
import { listTemplates } from './list-templates.ts'
import { sendTemplate } from './send-template.ts'

const success = { success: true as const }

export const messagingRoutes = (ctx: Context): Route[] => [
  route(connectMessaging, async ({ caller: { account }, params: { agentId }, body }) => {
    await requireAgent(ctx.db, account.id, agentId)
    const baseUrl = baseUrlOf(body.baseUrl)
    await putConnection(ctx, account.id, agentId, { accounts: body.accounts, baseUrl })
    return success
  }),

  route(disconnectMessaging, async ({ caller: { account }, params: { agentId } }) => {
    await requireAgent(ctx.db, account.id, agentId)
    await deleteConnection(ctx.db, account.id, agentId)
    return success
  }),

  route(listMessagingTemplates, async ({ caller: { account }, params: { agentId } }) => {
    await requireAgent(ctx.db, account.id, agentId)
    return listTemplates(ctx, agentId)
  }),

  route(
    sendMessagingTemplate,
    async ({ caller: { account }, params: { agentId }, body, idempotency, deliveryId }) => {
      await requireAgent(ctx.db, account.id, agentId)
      if (deliveryId !== null) return answerEarlier(ctx.db, account.id, deliveryId)
      return sendTemplate(ctx, { accountId: account.id, agentId }, body, idempotency)
    },
    'effect',
  ),
]
