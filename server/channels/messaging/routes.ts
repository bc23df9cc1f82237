import { requireAgent } from '../../agents/records/find-agent.ts'
import type { Context } from '../../context.ts'
import { type Route, route } from '../../http/route.ts'
import { baseUrlOf } from '../../http/server/base-url.ts'
import { deleteConnection, putConnection } from './connection/connection.ts'
import { connectionState, testConnection } from './connection/connection-state.ts'
import {
  connectMessaging,
  disconnectMessaging,
  listMessagingTemplates,
  readMessagingConnection,
  sendMessagingTemplate,
  testMessaging,
} from './contract.ts'
import { answerEarlier } from './inbound/answer-earlier.ts'
import { listTemplates } from './templates/list-templates.ts'
import { sendTemplate } from './templates/send-template.ts'

const success = { success: true as const }

export const messagingRoutes = (ctx: Context): Route[] => [
  route(connectMessaging, async ({ caller: { account }, params: { agentId }, body }) => {
    await requireAgent(ctx.db, account.id, agentId)
    const baseUrl = baseUrlOf(body.baseUrl)
    await putConnection(ctx, account.id, agentId, { accounts: body.accounts, baseUrl })
    return success
  }),

  route(readMessagingConnection, async ({ caller: { account }, params: { agentId } }) => {
    await requireAgent(ctx.db, account.id, agentId)
    return connectionState(ctx.db, account.id, agentId)
  }),

  route(
    testMessaging,
    async ({ caller: { account }, params: { agentId } }) => {
      await requireAgent(ctx.db, account.id, agentId)
      return { accounts: await testConnection(ctx, agentId) }
    },
    'answer',
  ),

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
