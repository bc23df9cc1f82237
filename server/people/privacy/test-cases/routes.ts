import type { Context } from '../../../context.ts'
import { type Route, route } from '../../../platform/http/route.ts'
import { caseFromConversation } from './case-from-conversation.ts'
import * as contract from './contract.ts'

export const testCaseRoutes = ({ db }: Pick<Context, 'db'>): Route[] => [
  route(contract.proposeFromConversation, { idempotencyMode: 'response' }, async ({ ref, body }) =>
    caseFromConversation(db, { ...ref, conversationId: body.conversationId }, body.messageId),
  ),
]
