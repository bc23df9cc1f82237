import type { Context } from '../../context.ts'
import { type Route, route } from '../../platform/http/route.ts'
import { baseUrlOf } from '../../platform/http/server/base-url.ts'
import { deleteConnection, putConnection } from './connection/connection.ts'
import { connectionState, testConnection } from './connection/connection-state.ts'
import {
  connectMessaging,
  deleteUnreadableEvent,
  disconnectMessaging,
  listMessagingTemplates,
  listUnreadableEvents,
  readMessagingConnection,
  sendMessagingTemplate,
  testMessaging,
} from './contract.ts'
import { answerEarlier } from './inbound/answer-earlier.ts'
import { deleteUnreadable, unreadableEvents } from './inbound/unreadable-events.ts'
import { listTemplates } from './templates/list-templates.ts'
import { sendTemplate } from './templates/send-template.ts'

const success = { success: true as const }

export const messagingRoutes = (
  ctx: Pick<Context, 'db' | 'fetcher' | 'jobs' | 'log' | 'notifier' | 'secrets'>,
): Route[] => [
  route(connectMessaging, async ({ ref, body }) => {
    const baseUrl = baseUrlOf(body.baseUrl)
    await putConnection(ctx, ref, { accounts: body.accounts, baseUrl })
    return success
  }),

  route(readMessagingConnection, async ({ ref }) => connectionState(ctx.db, ref)),

  route(testMessaging, { idempotencyMode: 'response' }, async ({ ref }) => ({
    accounts: await testConnection(ctx, ref.agentId),
  })),

  route(disconnectMessaging, async ({ ref }) => {
    await deleteConnection(ctx.db, ref)
    return success
  }),

  route(listUnreadableEvents, async ({ ref }) => ({ data: await unreadableEvents(ctx.db, ref) })),

  route(deleteUnreadableEvent, async ({ ref, params }) => {
    await deleteUnreadable(ctx.db, ref, params.eventId)
    return success
  }),

  route(listMessagingTemplates, async ({ params: { agentId } }) => {
    return listTemplates(ctx, agentId)
  }),

  route(
    sendMessagingTemplate,
    { idempotencyMode: 'manual' },
    async ({ ref, caller: { account }, body, idempotency, deliveryId }) => {
      if (deliveryId !== null) return answerEarlier(ctx.db, account.id, deliveryId)
      return sendTemplate(ctx, ref, body, idempotency)
    },
  ),
]
